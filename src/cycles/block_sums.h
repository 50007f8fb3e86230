/* Cycles of branch stacks, added up by block of code: from the target of a branch to the next
 * branch of the same stack.
 *
 * A block is a part of one function.  Its cycles are those that the processor wrote with the branch
 * at its end.  Source: struct perf_branch_entry of linux/perf_event.h; the rules are those of
 * perf's hist__account_cycles() and
 * __symbol__account_cycles(). */
#ifndef TALLY_CYCLES_BLOCK_SUMS_H
#define TALLY_CYCLES_BLOCK_SUMS_H

#include <stddef.h>
#include <stdint.h>
#include <tally/batch.h>

struct tally_time_span;

#define BLOCK_NO_START \
	UINT32_MAX /* the branch before it was in another function, or is not known */

struct block_sum {
	uint32_t frame, size; /* the function, and its bytes */
	uint32_t start, end;  /* offsets in the function; end: of the branch that ends the block */
	uint64_t count, cycles;
};

/* Samples outside these count nowhere.  Lists of no elements: all. */
struct block_choice {
	const struct tally_time_span *spans;
	size_t span_count;
	const uint32_t *cpus;
	size_t cpu_count;
};

struct block_sums;

/* A sink for sums, which borrows all that is given.  0 or -ENOMEM. */
int tally_block_sums_new(struct tally_session *session, const struct block_choice *choice,
			 struct block_sums **ret);
void tally_block_sums_free(struct block_sums *sums);
const struct tally_sink *tally_block_sums_sink(const struct block_sums *sums);
/* When the run has ended: the sums in the order of functions, ends and starts, for free(), and the
 * cycles of all branches. 0 or -ENOMEM. */
int tally_block_sums_take(struct block_sums *sums, struct block_sum **ret, size_t *ret_count,
			  uint64_t *ret_cycles);

#endif
