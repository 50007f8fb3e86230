#include "process/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include "base/sorted.h"
#include "base/table.h"

void tally_timeline_done(struct tally_timeline *timeline)
{
	tally_map_done(&timeline->keys);
	free(timeline->last);
	free(timeline->entries);
	free(timeline->first);
	*timeline = (struct tally_timeline){0};
}

int tally_timeline_add(struct tally_timeline *timeline, uint32_t key, uint64_t time, uint32_t value)
{
	bool added;
	uint64_t *dense;

	if (timeline->count == timeline->room) {
		size_t room = timeline->room ? timeline->room * 2 : 256;
		void *entries;

		if (room >= UINT32_MAX)
			return -ENOMEM;
		entries = reallocarray(timeline->entries, room, sizeof(*timeline->entries));
		if (!entries)
			return -ENOMEM;
		timeline->entries = entries;
		timeline->room = room;
	}
	/* The key 0 is not in the count. */
	if (!array_next(&timeline->last, &timeline->last_room, timeline->keys.count + 1, 256,
			sizeof(*timeline->last)))
		return -ENOMEM;
	/* Keys are moved up by one, as the map treats 0 apart. */
	dense = tally_map_put(&timeline->keys, (uint64_t)key + 1, &added);
	if (!dense)
		return -ENOMEM;
	if (added)
		*dense = timeline->keys.count - 1;
	timeline->entries[timeline->count] =
	    (struct tally_timeline_entry){.time = time, .value = value, .key = (uint32_t)*dense};
	timeline->last[*dense] = (uint32_t)timeline->count++;
	return 0;
}

struct tally_timeline_entry *tally_timeline_newest(const struct tally_timeline *timeline,
						   uint32_t key)
{
	const uint64_t *dense = tally_map_find(&timeline->keys, (uint64_t)key + 1);

	return dense ? &timeline->entries[timeline->last[*dense]] : NULL;
}

/* A counting sort by key: stable, so each key's entries stay in time order. */
int tally_timeline_freeze(struct tally_timeline *timeline)
{
	size_t keys = timeline->keys.count;
	uint32_t *first = calloc(keys + 2, sizeof(*first));
	struct tally_timeline_entry *sorted = calloc(timeline->count + 1, sizeof(*sorted));

	if (!first || !sorted) {
		free(first);
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < timeline->count; i++)
		first[timeline->entries[i].key + 2]++;
	for (size_t key = 2; key < keys + 2; key++)
		first[key] += first[key - 1];
	/* first[k + 1] is where key k's next entry goes; in the end it is where key k + 1 starts.
	 */
	for (size_t i = 0; i < timeline->count; i++)
		sorted[first[timeline->entries[i].key + 1]++] = timeline->entries[i];
	free(timeline->entries);
	free(timeline->last);
	timeline->entries = sorted;
	timeline->last = NULL;
	timeline->room = timeline->count;
	timeline->first = first;
	return 0;
}

int tally_timeline_thaw(struct tally_timeline *timeline)
{
	size_t keys = timeline->keys.count;

	timeline->last = malloc((keys + 1) * sizeof(*timeline->last));
	if (!timeline->last)
		return -ENOMEM;
	timeline->last_room = keys + 1;
	for (size_t key = 0; key < keys; key++)
		timeline->last[key] = timeline->first[key + 1] - 1;
	free(timeline->first);
	timeline->first = NULL;
	return 0;
}

bool tally_timeline_at(const struct tally_timeline *timeline, uint32_t key, uint64_t time,
		       uint32_t *ret_value, uint64_t *ret_from, uint64_t *ret_until)
{
	const uint64_t *dense = tally_map_find(&timeline->keys, (uint64_t)key + 1);
	size_t low, first, end;

	if (!dense)
		return false;
	first = timeline->first[*dense];
	end = timeline->first[*dense + 1];
	low = SORTED_BOUND(at, first + 1, end, timeline->entries[at].time <= time);
	*ret_value = timeline->entries[low - 1].value;
	*ret_from = timeline->entries[low - 1].time;
	*ret_until = low < end ? timeline->entries[low].time : UINT64_MAX;
	return true;
}
