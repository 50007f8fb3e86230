/* The samples of a block as they are written, and their chains completed: what a chain lacks beyond
 * its copy of the stack is taken from another sample of the thread. */
#ifndef TALLY_STACKS_STACK_JOINS_H
#define TALLY_STACKS_STACK_JOINS_H

#include <stddef.h>
#include <tally/record.h>
#include "base/buf.h"
#include "callchain/chain.h"

/* Frames of an unwound chain, which take most of the largest record. perf's reports show 127 unless
 * --max-stack says more. */
#define TALLY_STACK_FRAMES_MOST 7000

/* What one thread makes of a part of a block. */
struct tally_made_part {
	struct tally_buf records;
	struct tally_buf stacks; /* of each sample that was unwound: its frames */
};

void tally_made_part_clear(struct tally_made_part *part); /* keeps the memory */
void tally_made_part_done(struct tally_made_part *part);
/* Appends a sample. `chain`: of its own; NULL: it was not unwound. 0 or -errno. */
int tally_made_part_add(struct tally_made_part *part, const struct tally_layout *layout,
			const struct tally_body *body, const struct tally_chain *chain,
			const struct tally_sample *stack, struct tally_stack_counts *counts);

struct tally_stack_joins;

/* 0 or -ENOMEM. */
int tally_stack_joins_new(struct tally_stack_joins **ret);
void tally_stack_joins_free(struct tally_stack_joins *joins);
/* Completes chains in all parts of a block, in the order of time. 0 or -errno. */
int tally_stack_joins_run(struct tally_stack_joins *joins, struct tally_made_part *parts,
			  size_t count, struct tally_stack_counts *counts);

#endif
