/* Samples that are alike, counted together while the first pass reads them.
 *
 * What a sample's address leads to can only be told when all side-band records were read.  But two
 * samples of one thread, at one address, in one mode, lead to the same place unless something
 * changed between them; so they are counted as one lump on the first pass, and each lump is looked
 * up once.  A stint is a thread between two records that may change what is known of it (COMM,
 * FORK); it keeps its first and last time, by which it is told afterwards whether anything did
 * change within.  The samples of such a stint are read again one by one (lump_visit.c). */
#ifndef TALLY_SESSION_LUMPS_H
#define TALLY_SESSION_LUMPS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"

struct lump { /* what is kept of each counts: recordings have a million */
	uint64_t addr;
	uint64_t samples : 29;
	uint64_t kind : 35; /* lump_kind() */
};
#define LUMP_SAMPLES_MOST ((1U << 29) - 1)
#define LUMP_STINTS_MOST  (1U << 20)
#define LUMP_EVENTS_MOST  (1U << 12)

/* What one lump's samples have in common beside the address; compared at once.  `cpumode` as
 * PERF_RECORD_MISC_CPUMODE_MASK. */
static inline uint64_t lump_kind(uint32_t stint, uint16_t event, uint8_t cpumode)
{
	return (cpumode & 7u) | (uint64_t)(event & (LUMP_EVENTS_MOST - 1)) << 3 |
	       (uint64_t)(stint & (LUMP_STINTS_MOST - 1)) << 15;
}

static inline uint32_t lump_stint(const struct lump *lump)
{
	return (uint32_t)(lump->kind >> 15);
}

static inline uint16_t lump_event(const struct lump *lump)
{
	return (uint16_t)(lump->kind >> 3 & (LUMP_EVENTS_MOST - 1));
}

static inline uint8_t lump_cpumode(const struct lump *lump)
{
	return lump->kind & 7u;
}

/* Lumps stand in chunks, each freed when it was visited, with the sums of their periods. */
#define LUMPS_CHUNK 8192U

struct lump_stint {
	uint32_t pid, tid;
	uint64_t first_time, last_time;     /* the least and the largest */
	uint64_t first_offset, last_offset; /* of its samples in the file */
	/* The time of the change it began with, and of the one that ended it.  Samples that stand
	 * behind a change in the file but are older (another processor's ring, flushed later) are
	 * kept apart: those behind it are one stint, those before it another. */
	uint64_t begin_time, end_time;
	bool ended, late;
};

/* Look-ups wait for each other in batches, so that their cache misses overlap. */
#define LUMPS_BATCH 64U

struct lump_waiting {
	uint64_t hash, addr, period, kind;
};

struct lumps {                /* all zero is empty and valid */
	struct lump **chunks; /* NULL: visited */
	/* Number + 1, below as many bits of the hash as there is room for, so that other lumps are
	 * not looked at; 0: free.  Never full. */
	uint32_t *slots;
	uint32_t count, chunk_count, slot_room;
	/* As long as all samples have one period it is told once; from the first that has another
	 * on, the sums stand beside the lumps, chunk by chunk. */
	uint64_t period;
	uint64_t **periods; /* NULL: samples * period; of a chunk NULL: visited */
	struct lump_stint *stints;
	uint32_t *stint_slots; /* number + 1 of the thread's newest; 0: free */
	uint32_t stint_count, stint_room, stint_slot_room;
	uint32_t current; /* stint of the last sample; valid when has_current */
	bool has_current;
	uint64_t sample_count; /* that were settled */
	unsigned waiting_count;
	struct lump_waiting waiting[LUMPS_BATCH];
};

void tally_lumps_done(struct lumps *lumps);
/* Makes the thread's stint the current one, a new one when it has none for that time; 0 or -ENOMEM.
 */
int tally_lumps_turn(struct lumps *lumps, uint32_t pid, uint32_t tid, uint64_t time);
/* Something about the thread changed at that time: its next sample starts a stint. */
void tally_lumps_end_stint(struct lumps *lumps, uint32_t pid, uint32_t tid, uint64_t time);
/* The thread mapped something, which a record at that offset tells.  A program that starts maps one
 * thing over another: a stint that is young is ended, so that a long one does not begin with that.
 * Later mappings seldom take another's place. */
void tally_lumps_mapped(struct lumps *lumps, uint32_t pid, uint32_t tid, uint64_t time,
			uint64_t offset);
/* Whether lumps are too small to be worth it: many short processes, each at addresses of its own;
 * or too many for their numbers.  To be asked at least every LUMP_STINTS_MOST / 8 samples.
 */
bool tally_lumps_vain(const struct lumps *lumps);
/* Counts what waits; 0 or -ENOMEM. */
int tally_lumps_settle(struct lumps *lumps);
/* The same at the end, and gives back what only adding needs. */
int tally_lumps_finish(struct lumps *lumps);

struct lump_sample {
	uint64_t addr, time, period, offset;
	uint32_t pid, tid;
	uint16_t event;
	uint8_t cpumode;
};

static inline struct lump *lumps_at(const struct lumps *lumps, uint32_t number)
{
	return &lumps->chunks[number / LUMPS_CHUNK][number % LUMPS_CHUNK];
}

static inline uint64_t lumps_period(const struct lumps *lumps, uint32_t number)
{
	return lumps->periods ? lumps->periods[number / LUMPS_CHUNK][number % LUMPS_CHUNK]
			      : lumps_at(lumps, number)->samples * lumps->period;
}

/* Gives back a chunk that was visited. */
void tally_lumps_drop(struct lumps *lumps, uint32_t chunk);

static inline uint64_t lump_hash(uint64_t addr, uint32_t stint)
{
	return hash_u64(addr ^ (uint64_t)stint << 40);
}

static inline int lumps_add(struct lumps *lumps, const struct lump_sample *sample)
{
	struct lump_stint *stint = lumps->has_current ? &lumps->stints[lumps->current] : NULL;
	struct lump_waiting *waiting;
	uint64_t hash;

	if (!stint || stint->tid != sample->tid || stint->pid != sample->pid ||
	    (sample->time < stint->begin_time) != stint->late) {
		int result = tally_lumps_turn(lumps, sample->pid, sample->tid, sample->time);

		if (result)
			return result;
		stint = &lumps->stints[lumps->current];
	}
	if (sample->time < stint->first_time)
		stint->first_time = sample->time;
	if (sample->time > stint->last_time)
		stint->last_time = sample->time;
	if (sample->offset < stint->first_offset)
		stint->first_offset = sample->offset;
	stint->last_offset = sample->offset;
	hash = lump_hash(sample->addr, lumps->current);
	waiting = &lumps->waiting[lumps->waiting_count++];
	*waiting = (struct lump_waiting){
	    .hash = hash,
	    .addr = sample->addr,
	    .period = sample->period,
	    .kind = lump_kind(lumps->current, sample->event, sample->cpumode),
	};
	if (lumps->slot_room)
		__builtin_prefetch(&lumps->slots[hash & (lumps->slot_room - 1)]);
	return lumps->waiting_count == LUMPS_BATCH ? tally_lumps_settle(lumps) : 0;
}

#endif
