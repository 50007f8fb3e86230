/* The call tree while samples are put into it.
 *
 * Node 0 is above all; below it stands a node for each context (its `frame` is the context's
 * number); below those are frames from the outermost in.  Nodes are only added, so a parent always
 * stands before its children.  Not for several threads: each fills one of its own, then they are
 * merged. */
#ifndef TALLY_PROFILE_CALLS_H
#define TALLY_PROFILE_CALLS_H

#include <stdint.h>
#include "base/bytes.h"

/* Keys stand apart from sums: steps read keys only, and most nodes never have a sum. */
struct tally_call_key {
	uint32_t parent, frame;
};

struct tally_call_sum {
	uint64_t self;    /* period of the samples whose path ends here */
	uint64_t samples; /* and their number */
};

/* In a node's frame: samples end in that frame's row, and its trees end with the parent.  For what
 * a chain lacks of its sample's place, and for functions that were inlined there: what they are
 * part of counts, and they are shown. */
#define TALLY_CALL_UNSHOWN (1U << 31)

struct tally_calls {
	struct tally_call_key *keys;
	struct tally_call_sum *sums;
	/* Nodes by hash, which stands in the upper half, so that neither probing nor growing reads
	 * keys; 0: free.  A child that stands right behind its parent, as all of a path do that was
	 * new from there on, is found there and is not in the slots. */
	uint64_t *slots;
	uint32_t count, room, slot_count, slot_room; /* slot_room is a power of two */
};

int tally_calls_init(struct tally_calls *calls); /* 0 or -ENOMEM */
void tally_calls_done(struct tally_calls *calls);
/* The child of `parent` for `frame`, made when missing; 0: out of memory. */
uint32_t tally_calls_step(struct tally_calls *calls, uint32_t parent, uint32_t frame);
/* A step that is taken soon waits less when its slot was fetched some time before, and its node
 * some time after that. */
static inline uint32_t calls_hash(uint32_t parent, uint32_t frame)
{
	return (uint32_t)hash_u64((uint64_t)parent << 32 | frame);
}

static inline void calls_fetch_slot(const struct tally_calls *calls, uint32_t parent,
				    uint32_t frame)
{
	__builtin_prefetch(&calls->slots[calls_hash(parent, frame) & (calls->slot_room - 1)]);
}

static inline void calls_fetch_node(const struct tally_calls *calls, uint32_t parent,
				    uint32_t frame)
{
	uint32_t at = calls_hash(parent, frame) & (calls->slot_room - 1);
	uint32_t node = (uint32_t)calls->slots[at];

	__builtin_prefetch(&calls->keys[node]);
	__builtin_prefetch(&calls->sums[node], 1);
}

/* Adds all of `from`; contexts[n] is the number here of its context n.  0 or -ENOMEM. */
int tally_calls_merge(struct tally_calls *calls, const struct tally_calls *from,
		      const uint32_t *contexts);
/* Gives back what only growing needs. */
void tally_calls_finish(struct tally_calls *calls);

#endif
