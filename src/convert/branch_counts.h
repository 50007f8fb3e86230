/* How often branches of one binary were taken, and how often the code between two of them ran: sums
 * of branch stacks, for compilers and optimizers. */
#ifndef TALLY_CONVERT_BRANCH_COUNTS_H
#define TALLY_CONVERT_BRANCH_COUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include "convert/convert.h"

/* Addresses are those of the file, as objdump shows them. */
struct branch_count {
	uint64_t from, to; /* of a range: its first and last address, of the branch that ends it */
	uint64_t count, mispredicted;
	/* A branch: one of its ends is in another binary.  A range: it was entered from there. */
	bool from_outside, to_outside;
};

/* Sorted by their addresses. */
struct branch_counts {
	struct branch_count *branches, *ranges;
	uint32_t branch_count, range_count;
	/* The address of the page in which the binary's first segment with code begins; 0: the
	 * binary is not there. */
	uint64_t code_base;
};

/* Reads the branch stacks of the samples that the options choose, and gives those of the binary
 * that has most, of those of options.dsos if there are some; convert->image becomes its path.  0;
 * -ENODATA with words: there are no branch stacks; -errno. */
int tally_branch_counts_make(struct convert *convert, struct branch_counts *ret);
void tally_branch_counts_done(struct branch_counts *counts);

#endif
