#include "source/early_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <tally/abi.h>
#include "base/pages.h"
#include "base/table.h"

#define FIRST_SLOTS 4096U

#define PERIODS_SIZE (EARLY_CHUNK * sizeof(uint64_t))

void tally_early_sums_drop(struct early_sums *sums, uint32_t chunk)
{
	pages_free(sums->chunks[chunk], EARLY_CHUNK * sizeof(**sums->chunks));
	sums->chunks[chunk] = NULL;
	if (!sums->periods)
		return;
	pages_free(sums->periods[chunk], PERIODS_SIZE);
	sums->periods[chunk] = NULL;
}

void tally_early_sums_done(struct early_sums *sums)
{
	for (uint32_t i = 0; i < sums->chunk_count; i++)
		tally_early_sums_drop(sums, i);
	free(sums->chunks);
	free(sums->periods);
	free(sums->slots);
	free(sums->phases);
	free(sums->phase_slots);
	*sums = (struct early_sums){0};
}

static uint64_t thread_hash(uint32_t pid, uint32_t tid)
{
	return hash_u64((uint64_t)pid << 32 | tid);
}

/* The slot of the thread: its newest phase's, or a free one.  There are free ones. */
static uint32_t *thread_slot(const struct early_sums *sums, uint32_t pid, uint32_t tid)
{
	uint32_t mask = sums->phase_slot_room - 1, at = (uint32_t)thread_hash(pid, tid) & mask;

	for (; sums->phase_slots[at]; at = (at + 1) & mask) {
		const struct early_phase *phase = &sums->phases[sums->phase_slots[at] - 1];

		if (phase->tid == tid && phase->pid == pid)
			break;
	}
	return &sums->phase_slots[at];
}

static int grow_phases(struct early_sums *sums)
{
	uint32_t room = sums->phase_room ? sums->phase_room * 2 : 64;
	struct early_phase *phases;
	uint32_t *slots;

	if (room > UINT32_MAX / 4)
		return -ENOMEM;
	phases = reallocarray(sums->phases, room, sizeof(*phases));
	if (!phases)
		return -ENOMEM;
	sums->phases = phases;
	slots = calloc((size_t)room * 2, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(sums->phase_slots);
	sums->phase_slots = slots;
	sums->phase_room = room;
	sums->phase_slot_room = room * 2;
	/* In order, so that a thread's newest is what stays. */
	for (uint32_t i = 0; i < sums->phase_count; i++)
		*thread_slot(sums, phases[i].pid, phases[i].tid) = i + 1;
	return 0;
}

int tally_early_sums_enter(struct early_sums *sums, uint32_t pid, uint32_t tid, uint64_t time)
{
	const struct early_phase *newest;
	uint64_t begin;
	uint32_t *slot;

	if (sums->phase_count == sums->phase_room && grow_phases(sums))
		return -ENOMEM;
	slot = thread_slot(sums, pid, tid);
	newest = *slot ? &sums->phases[*slot - 1] : NULL;
	begin = !newest ? 0 : newest->ended ? newest->end_time : newest->begin_time;
	if (!newest || newest->ended || newest->late != (time < begin)) {
		sums->phases[sums->phase_count] = (struct early_phase){
		    .pid = pid,
		    .tid = tid,
		    .first_time = UINT64_MAX,
		    .first_offset = UINT64_MAX,
		    .begin_time = begin,
		    .late = time < begin,
		};
		*slot = ++sums->phase_count;
	}
	sums->current = *slot - 1;
	sums->has_current = true;
	return 0;
}

void tally_early_sums_end_phase(struct early_sums *sums, uint32_t pid, uint32_t tid, uint64_t time)
{
	uint32_t slot = sums->phase_count ? *thread_slot(sums, pid, tid) : 0;
	struct early_phase *phase;

	if (!slot)
		return;
	phase = &sums->phases[slot - 1];
	if (!phase->ended)
		phase->end_time = phase->begin_time;
	phase->end_time = time > phase->end_time ? time : phase->end_time;
	phase->ended = true;
	if (sums->current == slot - 1)
		sums->has_current = false;
}

#define YOUNG ((uint64_t)256 * 1024) /* bytes of the file since its first sample */

void tally_early_sums_mapped(struct early_sums *sums, uint32_t pid, uint32_t tid, uint64_t time,
			     uint64_t offset)
{
	uint32_t slot = sums->phase_count ? *thread_slot(sums, pid, tid) : 0;

	if (slot && offset - sums->phases[slot - 1].first_offset < YOUNG)
		tally_early_sums_end_phase(sums, pid, tid, time);
}

/* The upper half of the hash without the bits that choose the slot: the bits that a number leaves
 * free in a slot. */
static uint32_t slot_tag(uint64_t hash, uint32_t mask)
{
	return (uint32_t)(hash >> 32) & ~mask;
}

static int grow(struct early_sums *sums)
{
	if ((uint64_t)sums->chunk_count * EARLY_CHUNK < (uint64_t)sums->count + EARLY_TOGETHER) {
		struct early_sum *chunk;

		if (sums->count > UINT32_MAX / 4 ||
		    !array_resize(&sums->chunks, sums->chunk_count + 1, sizeof(*sums->chunks)))
			return -ENOMEM;
		if (sums->periods) {
			if (!array_resize(&sums->periods, sums->chunk_count + 1,
					  sizeof(*sums->periods)))
				return -ENOMEM;
			sums->periods[sums->chunk_count] = pages_new(PERIODS_SIZE);
			if (!sums->periods[sums->chunk_count])
				return -ENOMEM;
		}
		chunk = pages_new(EARLY_CHUNK * sizeof(*chunk));
		if (!chunk) {
			if (sums->periods)
				pages_free(sums->periods[sums->chunk_count], PERIODS_SIZE);
			return -ENOMEM;
		}
		sums->chunks[sums->chunk_count++] = chunk;
	}
	while ((uint64_t)(sums->count + EARLY_TOGETHER) * 3 > (uint64_t)sums->slot_room * 2) {
		uint32_t room = sums->slot_room ? sums->slot_room * 2 : FIRST_SLOTS;
		uint32_t *slots = room ? table_new(room, sizeof(*slots)) : NULL;

		if (!slots)
			return -ENOMEM;
		for (uint32_t i = 0; i < sums->count; i++) {
			const struct early_sum *sum = early_sum_at(sums, i);
			uint64_t hash = early_hash(sum->addr, early_phase(sum));
			uint32_t at = (uint32_t)hash & (room - 1);

			for (; slots[at]; at = (at + 1) & (room - 1))
				;
			slots[at] = slot_tag(hash, room - 1) | (i + 1);
		}
		free(sums->slots);
		sums->slots = slots;
		sums->slot_room = room;
	}
	return 0;
}

/* Found out early, as what was done until then is lost. */
#define TOO_MANY_FROM 16384U
/* Longer phases may begin with much that is new and go on with what is known. */
#define PHASE_SAMPLES 1024U

bool tally_early_sums_too_many(const struct early_sums *sums)
{
	if (sums->phase_count > EARLY_PHASES_MOST / 8 * 7)
		return true;
	return sums->sample_count >= TOO_MANY_FROM && sums->count > sums->sample_count / 2 &&
	       sums->sample_count / PHASE_SAMPLES < sums->phase_count;
}

/* The sums of all groups so far, which had one period. */
static int make_periods(struct early_sums *sums)
{
	uint64_t **periods = calloc(sums->chunk_count, sizeof(*periods));
	bool failed = !periods;

	for (uint32_t i = 0; !failed && i < sums->chunk_count; i++) {
		periods[i] = pages_new(PERIODS_SIZE);
		failed = !periods[i];
	}
	for (uint32_t i = 0; failed && periods && i < sums->chunk_count; i++)
		pages_free(periods[i], PERIODS_SIZE);
	if (failed) {
		free(periods);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < sums->count; i++)
		periods[i / EARLY_CHUNK][i % EARLY_CHUNK] =
		    early_sum_at(sums, i)->samples * sums->period;
	sums->periods = periods;
	return 0;
}

/* Whether the samples that wait have the one period that all had so far. */
static bool same_period(struct early_sums *sums)
{
	uint64_t differ = 0;

	if (!sums->sample_count && sums->waiting_count)
		sums->period = sums->waiting[0].period;
	for (unsigned i = 0; i < sums->waiting_count; i++)
		differ |= sums->waiting[i].period ^ sums->period;
	return !differ;
}

int tally_early_sums_add_waiting(struct early_sums *sums)
{
	unsigned count = sums->waiting_count;
	uint32_t places[EARLY_TOGETHER], mask;

	if (grow(sums))
		return -ENOMEM;
	if (!sums->periods && !same_period(sums) && make_periods(sums))
		return -ENOMEM;
	mask = sums->slot_room - 1;
	for (unsigned i = 0; i < count; i++) {
		uint64_t hash = sums->waiting[i].hash;
		uint32_t tag = slot_tag(hash, mask), at = (uint32_t)hash & mask, slot;

		while ((slot = sums->slots[at]) && (slot & ~mask) != tag)
			at = (at + 1) & mask;
		if (slot)
			__builtin_prefetch(early_sum_at(sums, (slot & mask) - 1), 1);
		places[i] = at;
	}
	for (unsigned i = 0; i < count; i++) {
		const struct early_waiting *waiting = &sums->waiting[i];
		uint32_t tag = slot_tag(waiting->hash, mask), at = places[i], number, slot;
		struct early_sum *sum = NULL;

		for (; (slot = sums->slots[at]); at = (at + 1) & mask) {
			if ((slot & ~mask) != tag)
				continue;
			sum = early_sum_at(sums, (slot & mask) - 1);
			if (sum->addr == waiting->addr && sum->kind == waiting->kind &&
			    sum->samples < EARLY_SAMPLES_MOST)
				break;
		}
		number = slot ? (slot & mask) - 1 : sums->count;
		if (sums->periods)
			sums->periods[number / EARLY_CHUNK][number % EARLY_CHUNK] +=
			    waiting->period;
		if (slot) {
			sum->samples++;
			continue;
		}
		*early_sum_at(sums, number) = (struct early_sum){
		    .addr = waiting->addr,
		    .samples = 1,
		    .kind = waiting->kind & ((1ULL << 35) - 1),
		};
		sums->slots[at] = tag | ++sums->count;
	}
	sums->sample_count += count;
	sums->waiting_count = 0;
	return 0;
}

int tally_early_sums_finish(struct early_sums *sums)
{
	int result = tally_early_sums_add_waiting(sums);

	free(sums->slots);
	free(sums->phase_slots);
	sums->slots = sums->phase_slots = NULL;
	sums->slot_room = sums->phase_slot_room = 0;
	return result;
}
