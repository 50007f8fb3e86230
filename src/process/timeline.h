/* Values of a key (a tid, a pid) over time.
 *
 * Entries arrive in time order; after tally_timeline_freeze() those of a key are adjacent and found
 * by binary search. */
#ifndef TALLY_PROCESS_TIMELINE_H
#define TALLY_PROCESS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/map.h"

struct tally_timeline_entry {
	uint64_t time;
	uint32_t value, key; /* key: dense number */
};

struct tally_timeline {        /* all zero is empty and valid */
	struct tally_map keys; /* key -> dense number */
	uint32_t *last;        /* by dense number: its newest entry */
	size_t last_room;
	struct tally_timeline_entry *entries;
	size_t count, room;
	uint32_t *first; /* by dense number and one beyond; made by freezing */
};

void tally_timeline_done(struct tally_timeline *timeline);
/* `value` is valid from `time` on. 0 or -ENOMEM. */
int tally_timeline_add(struct tally_timeline *timeline, uint32_t key, uint64_t time,
		       uint32_t value);
/* The newest entry, or NULL; borrowed until the next add.  Not after freezing. */
struct tally_timeline_entry *tally_timeline_newest(const struct tally_timeline *timeline,
						   uint32_t key);
int tally_timeline_freeze(struct tally_timeline *timeline);
/* After freezing: more may be added. 0 or -ENOMEM. */
int tally_timeline_thaw(struct tally_timeline *timeline);

/* The value at `time`, and since and until when ([from, until), UINT64_MAX: to the end). Before the
 * first value the first is returned, and *ret_from is later than `time`. false: the key has no
 * value. */
bool tally_timeline_at(const struct tally_timeline *timeline, uint32_t key, uint64_t time,
		       uint32_t *ret_value, uint64_t *ret_from, uint64_t *ret_until);

#endif
