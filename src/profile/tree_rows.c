#include "profile/tree_rows.h"

#include <errno.h>
#include <stdlib.h>
#include "base/bits.h"
#include "base/bytes.h"
#include "profile/profile.h"
#include "session/run.h"

void tally_tree_rows_done(struct tally_tree_rows *chosen)
{
	free(chosen->frames);
	free(chosen->addresses);
	free(chosen->slots);
	*chosen = (struct tally_tree_rows){0};
}

/* The slot of a chosen row, or a free one. */
static uint32_t *slot_of(const struct tally_tree_rows *chosen, const struct tally_rows *rows,
			 uint32_t context, uint32_t key)
{
	uint32_t mask = chosen->slot_room - 1;
	uint32_t at = (uint32_t)hash_u64((uint64_t)context << 32 | key) & mask;

	for (; chosen->slots[at]; at = (at + 1) & mask) {
		const struct tally_row *row = &rows->list[chosen->slots[at] - 1];

		if (row->context == context && row->key == key)
			break;
	}
	return &chosen->slots[at];
}

/* Gives numbers to rows and counts those that are chosen. */
static void number_rows(struct tally_profile *profile, struct tally_tree_rows *chosen)
{
	struct tally_rows *rows = &profile->rows;

	for (uint32_t event = 0; event < profile->event_count; event++)
		for (uint32_t i = rows->event_first[event]; i < rows->event_first[event + 1]; i++)
			rows->list[i].number = profile_row_is_small(profile, event, &rows->list[i])
						   ? TALLY_NO_ROW
						   : chosen->count++;
}

/* Marks the frames whose keys are those of chosen rows: by `keys`, a bit each. */
static void mark_frames(const struct tally_profile *profile, struct tally_tree_rows *chosen,
			uint64_t *keys)
{
	const struct tally_places *places = &profile->places;
	const struct tally_rows *rows = &profile->rows;

	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->list[i].number < chosen->count)
			bits_add(keys, rows->list[i].key);
	for (uint32_t frame = 1; frame < chosen->frame_count; frame++) {
		uint32_t place = places->place_of[frame], key;

		if (!place)
			continue;
		key = rows_key(&profile->keys, places, place);
		if (bits_has(keys, key))
			bits_add(chosen->frames, frame);
	}
}

int tally_tree_rows_choose(struct tally_profile *profile, struct tally_tree_rows *ret)
{
	const struct tally_rows *rows = &profile->rows;
	struct tally_tree_rows chosen = {.frame_count = profile->places.frame_count};
	/* A key is a frame's number, or a binary's, of which there are no more, + 1. */
	size_t words = ((size_t)chosen.frame_count + 1) / 64 + 1;
	uint64_t *keys = calloc(words, sizeof(*keys));

	number_rows(profile, &chosen);
	for (chosen.slot_room = 16; chosen.slot_room < (uint64_t)chosen.count * 2;)
		chosen.slot_room *= 2;
	chosen.frames = calloc(words, sizeof(*chosen.frames));
	chosen.slots = calloc(chosen.slot_room, sizeof(*chosen.slots));
	if (!keys || !chosen.frames || !chosen.slots) {
		free(keys);
		tally_tree_rows_done(&chosen);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->list[i].number < chosen.count)
			*slot_of(&chosen, rows, rows->list[i].context, rows->list[i].key) = i + 1;
	mark_frames(profile, &chosen, keys);
	free(keys);
	*ret = chosen;
	return 0;
}

int tally_tree_rows_addresses(struct tally_tree_rows *chosen,
			      const struct profile_address *addresses, uint32_t count)
{
	if (count == PROFILE_ADDRESSES_MANY)
		return 0;
	chosen->addresses = calloc((1U << ROWS_ADDRESS_BITS) / 64, sizeof(*chosen->addresses));
	if (!chosen->addresses)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		if (addresses[i].frame < chosen->frame_count &&
		    bits_has(chosen->frames, addresses[i].frame))
			bits_add(chosen->addresses, addresses[i].hash);
	return 0;
}

/* Each node's place, and the chosen row of those where samples end. */
static int assign_rows(struct tally_profile *profile, const struct tally_tree_rows *chosen,
		       const uint32_t *contexts)
{
	struct tally_call_node *nodes = profile->tree.nodes;
	uint32_t context = 0;

	for (uint32_t i = 1; i < profile->tree.count; i++) {
		struct tally_call_node *node = &nodes[i];
		uint32_t row;

		node->row = TALLY_NO_ROW;
		if (!node->parent) {
			context = node->frame = contexts[node->frame];
			continue;
		}
		node->frame = places_find(&profile->places, node->frame);
		if (!node->frame)
			return -ENOMEM;
		if (!node->ends)
			continue;
		row = *slot_of(chosen, &profile->rows, context,
			       rows_key(&profile->keys, &profile->places, node->frame));
		if (row)
			node->row = profile->rows.list[row - 1].number;
		else /* the same place in another context, whose row is small */
			node->ends = 0;
	}
	return 0;
}

int tally_tree_rows_take(struct tally_profile *profile, const struct tally_tree_rows *chosen,
			 struct profile_worker *worker)
{
	uint32_t *contexts = calloc((size_t)worker->contexts.count + 1, sizeof(*contexts));
	int result = contexts ? 0 : -ENOMEM;

	for (uint32_t i = 0; !result && i < worker->contexts.count; i++) {
		int64_t number =
		    tally_contexts_put(&profile->contexts, worker->contexts.list[i].event,
				       contexts_values(&worker->contexts, i));

		if (number < 0)
			result = -ENOMEM;
		else
			contexts[i] = (uint32_t)number;
	}
	if (!result)
		result =
		    tally_call_tree_make(&worker->calls, profile->session, worker->contexts.count,
					 profile->tree_samples, &profile->tree);
	if (!result)
		result = tally_places_grow(&profile->places);
	if (!result)
		result = assign_rows(profile, chosen, contexts);
	if (!result)
		result = tally_rows_list_ends(&profile->tree, chosen->count, &profile->rows.ends);
	free(contexts);
	return result;
}
