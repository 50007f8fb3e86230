/* What blocks of code cost: cycles of each, and instructions per cycle of functions. */
#ifndef TALLY_CYCLES_CYCLES_H
#define TALLY_CYCLES_CYCLES_H

#include <stdbool.h>
#include "base/buf.h"
#include "cycles/block_sums.h"

/* All blocks that end at one branch. */
struct cycle_block {
	uint32_t function;      /* index */
	uint32_t start, end;    /* of the longest of them; offsets in the function */
	bool has_start;         /* else start is 0 */
	uint64_t count, cycles; /* of the longest */
	uint64_t all, all_cycles;
};

struct cycle_function {
	struct tally_frame frame;
	uint32_t number, size; /* of the frame; bytes */
	size_t first, count;   /* of the blocks, in the order of their ends */
	double ipc;            /* of the longest blocks; 0: none has a start, or there is no code */
	double coverage;       /* of 1: its instructions that are in them */
};

struct tally_cycles {
	struct tally_session *session; /* borrowed */
	struct cycle_block *blocks;
	struct cycle_function *functions; /* by image and place */
	size_t block_count, function_count;
	uint64_t cycles; /* of all branches; 0: the recording has no cycles */
};

/* Makes blocks and functions of sums after a run.  0 or -ENOMEM. */
int tally_cycles_new(struct tally_session *session, struct block_sums *sums,
		     struct tally_cycles **ret);
void tally_cycles_free(struct tally_cycles *cycles);
/* Writes "file.c:12", where the byte at that offset of a function comes from; false: it is not
 * known. */
bool tally_cycles_line(const struct tally_cycles *cycles, const struct cycle_function *function,
		       uint32_t offset, struct tally_buf *to);
/* The function of a frame with a symbol; NULL: no block of it is known. */
const struct cycle_function *tally_cycles_function(const struct tally_cycles *cycles,
						   const struct tally_frame *frame);

#endif
