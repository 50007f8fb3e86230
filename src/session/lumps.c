#include "session/lumps.h"

#include <errno.h>
#include <stdlib.h>
#include <tally/abi.h>
#include "base/pages.h"
#include "base/table.h"

#define FIRST_SLOTS 4096U

#define PERIODS_SIZE (LUMPS_CHUNK * sizeof(uint64_t))

void tally_lumps_drop(struct lumps *lumps, uint32_t chunk)
{
	pages_free(lumps->chunks[chunk], LUMPS_CHUNK * sizeof(**lumps->chunks));
	lumps->chunks[chunk] = NULL;
	if (!lumps->periods)
		return;
	pages_free(lumps->periods[chunk], PERIODS_SIZE);
	lumps->periods[chunk] = NULL;
}

void tally_lumps_done(struct lumps *lumps)
{
	for (uint32_t i = 0; i < lumps->chunk_count; i++)
		tally_lumps_drop(lumps, i);
	free(lumps->chunks);
	free(lumps->periods);
	free(lumps->slots);
	free(lumps->stints);
	free(lumps->stint_slots);
	*lumps = (struct lumps){0};
}

static uint64_t thread_hash(uint32_t pid, uint32_t tid)
{
	return hash_u64((uint64_t)pid << 32 | tid);
}

/* The slot of the thread: its newest stint's, or a free one.  There are free ones. */
static uint32_t *thread_slot(const struct lumps *lumps, uint32_t pid, uint32_t tid)
{
	uint32_t mask = lumps->stint_slot_room - 1, at = (uint32_t)thread_hash(pid, tid) & mask;

	for (; lumps->stint_slots[at]; at = (at + 1) & mask) {
		const struct lump_stint *stint = &lumps->stints[lumps->stint_slots[at] - 1];

		if (stint->tid == tid && stint->pid == pid)
			break;
	}
	return &lumps->stint_slots[at];
}

static int grow_stints(struct lumps *lumps)
{
	uint32_t room = lumps->stint_room ? lumps->stint_room * 2 : 64;
	struct lump_stint *stints;
	uint32_t *slots;

	if (room > UINT32_MAX / 4)
		return -ENOMEM;
	stints = reallocarray(lumps->stints, room, sizeof(*stints));
	if (!stints)
		return -ENOMEM;
	lumps->stints = stints;
	slots = calloc((size_t)room * 2, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(lumps->stint_slots);
	lumps->stint_slots = slots;
	lumps->stint_room = room;
	lumps->stint_slot_room = room * 2;
	/* In order, so that a thread's newest is what stays. */
	for (uint32_t i = 0; i < lumps->stint_count; i++)
		*thread_slot(lumps, stints[i].pid, stints[i].tid) = i + 1;
	return 0;
}

int tally_lumps_turn(struct lumps *lumps, uint32_t pid, uint32_t tid, uint64_t time)
{
	const struct lump_stint *newest;
	uint64_t begin;
	uint32_t *slot;

	if (lumps->stint_count == lumps->stint_room && grow_stints(lumps))
		return -ENOMEM;
	slot = thread_slot(lumps, pid, tid);
	newest = *slot ? &lumps->stints[*slot - 1] : NULL;
	begin = !newest ? 0 : newest->ended ? newest->end_time : newest->begin_time;
	if (!newest || newest->ended || newest->late != (time < begin)) {
		lumps->stints[lumps->stint_count] = (struct lump_stint){
		    .pid = pid,
		    .tid = tid,
		    .first_time = UINT64_MAX,
		    .first_offset = UINT64_MAX,
		    .begin_time = begin,
		    .late = time < begin,
		};
		*slot = ++lumps->stint_count;
	}
	lumps->current = *slot - 1;
	lumps->has_current = true;
	return 0;
}

void tally_lumps_end_stint(struct lumps *lumps, uint32_t pid, uint32_t tid, uint64_t time)
{
	uint32_t slot = lumps->stint_count ? *thread_slot(lumps, pid, tid) : 0;
	struct lump_stint *stint;

	if (!slot)
		return;
	stint = &lumps->stints[slot - 1];
	if (!stint->ended)
		stint->end_time = stint->begin_time;
	stint->end_time = time > stint->end_time ? time : stint->end_time;
	stint->ended = true;
	if (lumps->current == slot - 1)
		lumps->has_current = false;
}

#define YOUNG ((uint64_t)256 * 1024) /* bytes of the file since its first sample */

void tally_lumps_mapped(struct lumps *lumps, uint32_t pid, uint32_t tid, uint64_t time,
			uint64_t offset)
{
	uint32_t slot = lumps->stint_count ? *thread_slot(lumps, pid, tid) : 0;

	if (slot && offset - lumps->stints[slot - 1].first_offset < YOUNG)
		tally_lumps_end_stint(lumps, pid, tid, time);
}

/* The bits of a slot that a number needs not, of the half of the hash that does not tell where the
 * slot is. */
static uint32_t slot_tag(uint64_t hash, uint32_t mask)
{
	return (uint32_t)(hash >> 32) & ~mask;
}

static int grow(struct lumps *lumps)
{
	if ((uint64_t)lumps->chunk_count * LUMPS_CHUNK < (uint64_t)lumps->count + LUMPS_BATCH) {
		struct lump *chunk;

		if (lumps->count > UINT32_MAX / 4 ||
		    !array_resize(&lumps->chunks, lumps->chunk_count + 1, sizeof(*lumps->chunks)))
			return -ENOMEM;
		if (lumps->periods) {
			if (!array_resize(&lumps->periods, lumps->chunk_count + 1,
					  sizeof(*lumps->periods)))
				return -ENOMEM;
			lumps->periods[lumps->chunk_count] = pages_new(PERIODS_SIZE);
			if (!lumps->periods[lumps->chunk_count])
				return -ENOMEM;
		}
		chunk = pages_new(LUMPS_CHUNK * sizeof(*chunk));
		if (!chunk) {
			if (lumps->periods)
				pages_free(lumps->periods[lumps->chunk_count], PERIODS_SIZE);
			return -ENOMEM;
		}
		lumps->chunks[lumps->chunk_count++] = chunk;
	}
	while ((uint64_t)(lumps->count + LUMPS_BATCH) * 3 > (uint64_t)lumps->slot_room * 2) {
		uint32_t room = lumps->slot_room ? lumps->slot_room * 2 : FIRST_SLOTS;
		uint32_t *slots = room ? table_new(room, sizeof(*slots)) : NULL;

		if (!slots)
			return -ENOMEM;
		for (uint32_t i = 0; i < lumps->count; i++) {
			const struct lump *lump = lumps_at(lumps, i);
			uint64_t hash = lump_hash(lump->addr, lump_stint(lump));
			uint32_t at = (uint32_t)hash & (room - 1);

			for (; slots[at]; at = (at + 1) & (room - 1))
				;
			slots[at] = slot_tag(hash, room - 1) | (i + 1);
		}
		free(lumps->slots);
		lumps->slots = slots;
		lumps->slot_room = room;
	}
	return 0;
}

/* Told early, as what was done until then is lost. */
#define VAIN_LEAST 16384U
/* Longer stints may begin with much that is new and go on with what is known. */
#define STINT_SAMPLES 1024U

bool tally_lumps_vain(const struct lumps *lumps)
{
	if (lumps->stint_count > LUMP_STINTS_MOST / 8 * 7)
		return true;
	return lumps->sample_count >= VAIN_LEAST && lumps->count > lumps->sample_count / 2 &&
	       lumps->sample_count / STINT_SAMPLES < lumps->stint_count;
}

/* The sums of all lumps so far, which had one period. */
static int make_periods(struct lumps *lumps)
{
	uint64_t **periods = calloc(lumps->chunk_count, sizeof(*periods));
	bool failed = !periods;

	for (uint32_t i = 0; !failed && i < lumps->chunk_count; i++) {
		periods[i] = pages_new(PERIODS_SIZE);
		failed = !periods[i];
	}
	for (uint32_t i = 0; failed && periods && i < lumps->chunk_count; i++)
		pages_free(periods[i], PERIODS_SIZE);
	if (failed) {
		free(periods);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < lumps->count; i++)
		periods[i / LUMPS_CHUNK][i % LUMPS_CHUNK] =
		    lumps_at(lumps, i)->samples * lumps->period;
	lumps->periods = periods;
	return 0;
}

/* Whether the samples that wait have the one period that all had so far. */
static bool same_period(struct lumps *lumps)
{
	uint64_t differ = 0;

	if (!lumps->sample_count && lumps->waiting_count)
		lumps->period = lumps->waiting[0].period;
	for (unsigned i = 0; i < lumps->waiting_count; i++)
		differ |= lumps->waiting[i].period ^ lumps->period;
	return !differ;
}

int tally_lumps_settle(struct lumps *lumps)
{
	unsigned count = lumps->waiting_count;
	uint32_t places[LUMPS_BATCH], mask;

	if (grow(lumps))
		return -ENOMEM;
	if (!lumps->periods && !same_period(lumps) && make_periods(lumps))
		return -ENOMEM;
	mask = lumps->slot_room - 1;
	for (unsigned i = 0; i < count; i++) {
		uint64_t hash = lumps->waiting[i].hash;
		uint32_t tag = slot_tag(hash, mask), at = (uint32_t)hash & mask, slot;

		while ((slot = lumps->slots[at]) && (slot & ~mask) != tag)
			at = (at + 1) & mask;
		if (slot)
			__builtin_prefetch(lumps_at(lumps, (slot & mask) - 1), 1);
		places[i] = at;
	}
	for (unsigned i = 0; i < count; i++) {
		const struct lump_waiting *waiting = &lumps->waiting[i];
		uint32_t tag = slot_tag(waiting->hash, mask), at = places[i], number, slot;
		struct lump *lump = NULL;

		for (; (slot = lumps->slots[at]); at = (at + 1) & mask) {
			if ((slot & ~mask) != tag)
				continue;
			lump = lumps_at(lumps, (slot & mask) - 1);
			if (lump->addr == waiting->addr && lump->kind == waiting->kind &&
			    lump->samples < LUMP_SAMPLES_MOST)
				break;
		}
		number = slot ? (slot & mask) - 1 : lumps->count;
		if (lumps->periods)
			lumps->periods[number / LUMPS_CHUNK][number % LUMPS_CHUNK] +=
			    waiting->period;
		if (slot) {
			lump->samples++;
			continue;
		}
		*lumps_at(lumps, number) = (struct lump){
		    .addr = waiting->addr,
		    .samples = 1,
		    .kind = waiting->kind & ((1ULL << 35) - 1),
		};
		lumps->slots[at] = tag | ++lumps->count;
	}
	lumps->sample_count += count;
	lumps->waiting_count = 0;
	return 0;
}

int tally_lumps_finish(struct lumps *lumps)
{
	int result = tally_lumps_settle(lumps);

	free(lumps->slots);
	free(lumps->stint_slots);
	lumps->slots = lumps->stint_slots = NULL;
	lumps->slot_room = lumps->stint_slot_room = 0;
	return result;
}
