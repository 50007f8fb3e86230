/* What one pass takes out of the rings when the recorder unwinds: records in memory, in which
 * copies of stacks are as long as the stacks that they are of. */
#ifndef TALLY_STACKS_STACK_BLOCK_H
#define TALLY_STACKS_STACK_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/record.h>
#include <tally/ring.h>
#include "base/buf.h"
#include "base/map.h"
#include "collect/event_plan.h"

struct tally_stack_block {
	struct tally_stack_block *next; /* of a queue */
	struct tally_buf side;          /* the side-bands' records */
	size_t early;             /* of these, bytes that were read before any of the samples */
	struct tally_buf samples; /* all others, ring after ring */
	/* How many times in a row these had far more room than bytes. */
	unsigned side_small, samples_small;
	/* Parts of `samples` that threads take: where each begins. */
	size_t *parts;
	size_t part_count, part_room;
	/* When `samples` waits in a file: where, and how long it is. */
	bool spilled;
	uint64_t spilled_at;
	size_t spilled_size;
};

void tally_stack_block_clear(struct tally_stack_block *block); /* keeps the memory */
void tally_stack_block_free(struct tally_stack_block *block);

/* How the samples of a recording's events are laid out in the rings, and in the file. */
struct tally_stack_events {
	const struct tally_plan *plan;
	struct tally_map by_id; /* id -> index of the event + 1 */
	struct tally_layout *rings, *files;
};

/* Whether the recorder makes the chains of any of the events. */
bool tally_plan_unwinds(const struct tally_plan *plan);
/* Of a plan whose events are open. 0 or -ENOMEM. */
int tally_stack_events_init(struct tally_stack_events *events, const struct tally_plan *plan);
void tally_stack_events_done(struct tally_stack_events *events);
/* The event of a sample whose chain the recorder makes, or -1. */
int64_t tally_stack_events_find(const struct tally_stack_events *events,
				const struct tally_record *record);

/* What a pass does to copies. */
struct tally_stack_copies {
	uint32_t most;    /* bytes that are kept of each */
	uint64_t cut;     /* copies that were made smaller */
	uint64_t dropped; /* all of a copy */
};
#define TALLY_STACK_COPY_MOST 65536

/* Appends whole records of a ring, [from, to). 0 or -ENOMEM. `joined` has room for a record. */
int tally_stack_block_add(struct tally_stack_block *block, const struct tally_stack_events *events,
			  const struct tally_ring_bytes *bytes, size_t from, size_t to,
			  struct tally_stack_copies *copies, uint8_t *joined);
/* The same for the side-band's. */
int tally_stack_block_add_side(struct tally_stack_block *block,
			       const struct tally_ring_bytes *bytes, size_t from, size_t to);
/* Gives up all copies. */
void tally_stack_block_drop(struct tally_stack_block *block,
			    const struct tally_stack_events *events,
			    struct tally_stack_copies *copies);

#endif
