/* Blocks on their way from the thread that empties the rings to those that unwind.  What does not
 * fit into memory waits in a temporary file, and what does not fit there loses its copies of
 * stacks, so the rings are never waited for. */
#ifndef TALLY_STACKS_BLOCK_QUEUE_H
#define TALLY_STACKS_BLOCK_QUEUE_H

#include <pthread.h>
#include "stacks/stack_block.h"

struct tally_block_queue {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct tally_stack_block *first, **last;       /* that wait */
	struct tally_stack_block *later, **later_last; /* that came after the end */
	struct tally_stack_block *spare;               /* empty ones, to be used again */
	unsigned spare_count;
	size_t bytes, bytes_most; /* in memory */
	bool ended;
	int file; /* unlinked; below 0: none yet */
	bool file_failed;
	uint64_t file_end, file_most, waiting_in_file;
	uint64_t spilled; /* bytes, in all */
};

void tally_block_queue_init(struct tally_block_queue *queue, size_t bytes_most, uint64_t file_most);
void tally_block_queue_done(struct tally_block_queue *queue);

/* --- the thread that empties the rings --- */

/* An empty block; NULL: out of memory. */
struct tally_stack_block *tally_block_queue_take_empty(struct tally_block_queue *queue);
/* How many bytes of a copy are worth taking now: fewer when much waits. */
uint32_t tally_block_queue_copy_most(struct tally_block_queue *queue);
/* Adds a block, which becomes the queue's. */
void tally_block_queue_put(struct tally_block_queue *queue, struct tally_stack_block *block,
			   const struct tally_stack_events *events,
			   struct tally_stack_copies *copies);
/* What comes after this waits until the queue begins again. */
void tally_block_queue_end(struct tally_block_queue *queue);
/* After the end, when all were taken: what came since then is next, and counts begin at 0. */
void tally_block_queue_begin(struct tally_block_queue *queue);

/* --- the thread that unwinds --- */

/* Waits for the next block, and reads it back into memory if it was spilled. *ret NULL: the end. 0
 * or -errno. */
int tally_block_queue_next(struct tally_block_queue *queue, struct tally_stack_block **ret);
bool tally_block_queue_waits(struct tally_block_queue *queue); /* whether any block does */
/* Whether so much waits that the next ones should be taken sooner. */
bool tally_block_queue_is_long(struct tally_block_queue *queue);
/* Gives a block back. */
void tally_block_queue_give(struct tally_block_queue *queue, struct tally_stack_block *block);

#endif
