#include "profile/calls.h"

#include <errno.h>
#include <stdlib.h>
#include "base/bytes.h"
#include "base/table.h"

#define FIRST_NODES 1024u
#define FIRST_SLOTS 2048u

int tally_calls_init(struct tally_calls *calls)
{
	*calls = (struct tally_calls){.count = 1, .room = FIRST_NODES, .slot_room = FIRST_SLOTS};
	calls->keys = malloc(FIRST_NODES * sizeof(*calls->keys));
	calls->sums = malloc(FIRST_NODES * sizeof(*calls->sums));
	calls->slots = calloc(FIRST_SLOTS, sizeof(*calls->slots));
	if (!calls->keys || !calls->sums || !calls->slots) {
		tally_calls_done(calls);
		return -ENOMEM;
	}
	calls->keys[0] = (struct tally_call_key){0};
	calls->sums[0] = (struct tally_call_sum){0};
	return 0;
}

void tally_calls_done(struct tally_calls *calls)
{
	free(calls->keys);
	free(calls->sums);
	free(calls->slots);
	*calls = (struct tally_calls){0};
}

void tally_calls_finish(struct tally_calls *calls)
{
	free(calls->slots);
	calls->slots = NULL;
	calls->slot_room = calls->slot_count = 0;
}

static uint64_t slot_for(uint32_t hash, uint32_t node)
{
	return (uint64_t)hash << 32 | node;
}

static uint32_t free_slot(const struct tally_calls *calls, uint32_t hash)
{
	uint32_t mask = calls->slot_room - 1, at = hash & mask;

	while (calls->slots[at])
		at = (at + 1) & mask;
	return at;
}

static int grow_slots(struct tally_calls *calls)
{
	uint32_t room = calls->slot_room * 2, old_room = calls->slot_room;
	uint64_t *old = calls->slots, *slots = room ? table_new(room, sizeof(*slots)) : NULL;

	if (!slots)
		return -ENOMEM;
	calls->slots = slots;
	calls->slot_room = room;
	for (uint32_t i = 0; i < old_room; i++)
		if (old[i])
			slots[free_slot(calls, (uint32_t)(old[i] >> 32))] = old[i];
	free(old);
	return 0;
}

/* By a half each time: the arrays are the largest thing a report keeps. */
static int grow_nodes(struct tally_calls *calls)
{
	uint64_t room = (uint64_t)calls->room + calls->room / 2;
	struct tally_call_key *keys;
	struct tally_call_sum *sums;

	if (room > INT32_MAX) /* settled nodes count with 31 bits */
		return -ENOMEM;
	keys = reallocarray(calls->keys, room, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	calls->keys = keys;
	sums = reallocarray(calls->sums, room, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	calls->sums = sums;
	calls->room = (uint32_t)room;
	return 0;
}

/* Adds a node, which is not in the slots yet; 0: out of memory. */
static inline uint32_t add_node(struct tally_calls *calls, uint32_t parent, uint32_t frame)
{
	if (calls->count == calls->room && grow_nodes(calls))
		return 0;
	calls->keys[calls->count] = (struct tally_call_key){.parent = parent, .frame = frame};
	calls->sums[calls->count] = (struct tally_call_sum){0};
	return calls->count++;
}

uint32_t tally_calls_step(struct tally_calls *calls, uint32_t parent, uint32_t frame)
{
	uint32_t mask = calls->slot_room - 1, hash, at, node;
	uint64_t slot;

	if (parent + 1 == calls->count) /* the newest node, which has no children */
		return add_node(calls, parent, frame);
	if (calls->keys[parent + 1].parent == parent && calls->keys[parent + 1].frame == frame)
		return parent + 1;
	hash = calls_hash(parent, frame);
	for (at = hash & mask; (slot = calls->slots[at]); at = (at + 1) & mask) {
		node = (uint32_t)slot;
		if (slot >> 32 == hash && calls->keys[node].parent == parent &&
		    calls->keys[node].frame == frame)
			return node;
	}
	if ((uint64_t)calls->slot_count * 3 >= (uint64_t)calls->slot_room * 2) {
		if (grow_slots(calls))
			return 0;
		at = free_slot(calls, hash);
	}
	node = add_node(calls, parent, frame);
	if (!node)
		return 0;
	calls->slots[at] = slot_for(hash, node);
	calls->slot_count++;
	return node;
}

/* Merging knows what it will ask for, so that the waits for memory overlap. */
#define AHEAD 16u

int tally_calls_merge(struct tally_calls *calls, const struct tally_calls *from,
		      const uint32_t *contexts)
{
	uint32_t *now = malloc(from->count * sizeof(*now));

	if (!now)
		return -ENOMEM;
	now[0] = 0;
	for (uint32_t i = 1; i < from->count; i++) {
		const struct tally_call_key *key = &from->keys[i];
		uint32_t frame = key->parent ? key->frame : contexts[key->frame];

		if (i + AHEAD < from->count) {
			const struct tally_call_key *far = key + AHEAD, *near = key + AHEAD / 2;

			if (far->parent && far->parent < i)
				calls_fetch_slot(calls, now[far->parent], far->frame);
			if (near->parent && near->parent < i)
				calls_fetch_node(calls, now[near->parent], near->frame);
		}
		now[i] = tally_calls_step(calls, now[key->parent], frame);
		if (!now[i]) {
			free(now);
			return -ENOMEM;
		}
		calls->sums[now[i]].self += from->sums[i].self;
		calls->sums[now[i]].samples += from->sums[i].samples;
	}
	free(now);
	return 0;
}
