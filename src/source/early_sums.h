/* Equal samples, counted together while the first pass reads them.
 *
 * The function at a sample's address is known only after all side-band records were read.  But two
 * samples of one thread, at one address, in one mode, are in the same function unless something
 * changed between them; so they are counted as one group on the first pass, and each group is
 * looked up once.  A phase is a thread between two records that may change what is known of it
 * (COMM, FORK); it keeps its first and last time, which show afterwards whether anything changed
 * within it.  The samples of such a phase are read again one by one (early_visit.c). */
#ifndef TALLY_SOURCE_EARLY_SUMS_H
#define TALLY_SOURCE_EARLY_SUMS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"

struct early_sum { /* what is kept of each counts: recordings have a million */
	uint64_t addr;
	uint64_t samples : 29;
	uint64_t kind : 35; /* early_kind() */
};
#define EARLY_SAMPLES_MOST ((1U << 29) - 1)
#define EARLY_PHASES_MOST  (1U << 20)
#define EARLY_EVENTS_MOST  (1U << 12)

/* What one group's samples have in common beside the address; compared at once.  `cpumode` as
 * PERF_RECORD_MISC_CPUMODE_MASK. */
static inline uint64_t early_kind(uint32_t phase, uint16_t event, uint8_t cpumode)
{
	return (cpumode & 7u) | (uint64_t)(event & (EARLY_EVENTS_MOST - 1)) << 3 |
	       (uint64_t)(phase & (EARLY_PHASES_MOST - 1)) << 15;
}

static inline uint32_t early_phase(const struct early_sum *sum)
{
	return (uint32_t)(sum->kind >> 15);
}

static inline uint16_t early_event(const struct early_sum *sum)
{
	return (uint16_t)(sum->kind >> 3 & (EARLY_EVENTS_MOST - 1));
}

static inline uint8_t early_cpumode(const struct early_sum *sum)
{
	return sum->kind & 7u;
}

/* Groups are in chunks, each freed after it was visited, with the sums of their periods. */
#define EARLY_CHUNK 8192U

struct early_phase {
	uint32_t pid, tid;
	uint64_t first_time, last_time;     /* the least and the largest */
	uint64_t first_offset, last_offset; /* of its samples in the file */
	/* The time of the change it began with, and of the one that ended it.  Samples that stand
	 * behind a change in the file but are older (another processor's ring, flushed later) are
	 * kept apart: those behind it are one phase, those before it another. */
	uint64_t begin_time, end_time;
	bool ended, late;
};

/* Look-ups wait for each other in batches, so that their cache misses overlap. */
#define EARLY_TOGETHER 64U

struct early_waiting {
	uint64_t hash, addr, period, kind;
};

struct early_sums {                /* all zero is empty and valid */
	struct early_sum **chunks; /* NULL: visited */
	/* Number + 1, below as many bits of the hash as there is room for, so that other groups are
	 * not looked at; 0: free.  Never full. */
	uint32_t *slots;
	uint32_t count, chunk_count, slot_room;
	/* As long as all samples have one period it is kept once; from the first that has another
	 * on, the sums stand beside the sums, chunk by chunk. */
	uint64_t period;
	uint64_t **periods; /* NULL: samples * period; of a chunk NULL: visited */
	struct early_phase *phases;
	uint32_t *phase_slots; /* number + 1 of the thread's newest; 0: free */
	uint32_t phase_count, phase_room, phase_slot_room;
	uint32_t current; /* phase of the last sample; valid when has_current */
	bool has_current;
	uint64_t sample_count; /* that were added */
	unsigned waiting_count;
	struct early_waiting waiting[EARLY_TOGETHER];
};

void tally_early_sums_done(struct early_sums *sums);
/* Makes the thread's phase the current one, a new one when it has none for that time; 0 or -ENOMEM.
 */
int tally_early_sums_enter(struct early_sums *sums, uint32_t pid, uint32_t tid, uint64_t time);
/* Something about the thread changed at that time: its next sample starts a phase. */
void tally_early_sums_end_phase(struct early_sums *sums, uint32_t pid, uint32_t tid, uint64_t time);
/* The thread mapped something, as a record at that offset says.  A program that starts maps files
 * over each other: a new phase is ended then, so that a long one does not begin with these changes.
 * Later mappings seldom replace others. */
void tally_early_sums_mapped(struct early_sums *sums, uint32_t pid, uint32_t tid, uint64_t time,
			     uint64_t offset);
/* Whether groups are too small to be worth it: many short processes, each at addresses of its own;
 * or too many for their numbers.  To be asked at least every EARLY_PHASES_MOST / 8 samples.
 */
bool tally_early_sums_too_many(const struct early_sums *sums);
/* Counts the samples that wait; 0 or -ENOMEM. */
int tally_early_sums_add_waiting(struct early_sums *sums);
/* The same at the end; also frees what only adding needs. */
int tally_early_sums_finish(struct early_sums *sums);

struct early_sample {
	uint64_t addr, time, period, offset;
	uint32_t pid, tid;
	uint16_t event;
	uint8_t cpumode;
};

static inline struct early_sum *early_sum_at(const struct early_sums *sums, uint32_t number)
{
	return &sums->chunks[number / EARLY_CHUNK][number % EARLY_CHUNK];
}

static inline uint64_t early_sum_period(const struct early_sums *sums, uint32_t number)
{
	return sums->periods ? sums->periods[number / EARLY_CHUNK][number % EARLY_CHUNK]
			     : early_sum_at(sums, number)->samples * sums->period;
}

/* Frees a chunk that was visited. */
void tally_early_sums_drop(struct early_sums *sums, uint32_t chunk);

static inline uint64_t early_hash(uint64_t addr, uint32_t phase)
{
	return hash_u64(addr ^ (uint64_t)phase << 40);
}

static inline int early_sums_add(struct early_sums *sums, const struct early_sample *sample)
{
	struct early_phase *phase = sums->has_current ? &sums->phases[sums->current] : NULL;
	struct early_waiting *waiting;
	uint64_t hash;

	if (!phase || phase->tid != sample->tid || phase->pid != sample->pid ||
	    (sample->time < phase->begin_time) != phase->late) {
		int result = tally_early_sums_enter(sums, sample->pid, sample->tid, sample->time);

		if (result)
			return result;
		phase = &sums->phases[sums->current];
	}
	if (sample->time < phase->first_time)
		phase->first_time = sample->time;
	if (sample->time > phase->last_time)
		phase->last_time = sample->time;
	if (sample->offset < phase->first_offset)
		phase->first_offset = sample->offset;
	phase->last_offset = sample->offset;
	hash = early_hash(sample->addr, sums->current);
	waiting = &sums->waiting[sums->waiting_count++];
	*waiting = (struct early_waiting){
	    .hash = hash,
	    .addr = sample->addr,
	    .period = sample->period,
	    .kind = early_kind(sums->current, sample->event, sample->cpumode),
	};
	if (sums->slot_room)
		__builtin_prefetch(&sums->slots[hash & (sums->slot_room - 1)]);
	return sums->waiting_count == EARLY_TOGETHER ? tally_early_sums_add_waiting(sums) : 0;
}

#endif
