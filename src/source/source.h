/* Where samples come from: the records of a file, a stream or a running recorder, found by one walk
 * over their headers and joined with the processes over time. */
#ifndef TALLY_SOURCE_SOURCE_H
#define TALLY_SOURCE_SOURCE_H

#include <errno.h>
#include <string.h>
#include <tally/session.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "compiled/jit_loads.h"
#include "process/process.h"
#include "source/ascending_runs.h"
#include "source/deferred.h"
#include "source/early_sums.h"

/* Bytes of records that one thread takes at a time: so many that taking one costs nothing, so few
 * that the last ones are divided evenly. */
#define SOURCE_PIECE_SIZE ((size_t)256 * 1024)

/* A range of complete records whose headers were checked. */
struct source_piece {
	const uint8_t *bytes;
	size_t size;
	uint64_t offset; /* in the file */
	/* Where its first record begins that is no sample, and behind the last one's start; 0: it
	 * has none. */
	uint32_t first_other, behind_others;
};

/* A record about processes. */
struct source_side {
	uint64_t time;
	const uint8_t *bytes;
	uint64_t offset;
};

#define SOURCE_ID_CACHE 64U

/* The ids of recent samples, and their events; one cache for each thread. */
struct source_id_cache {
	struct source_id_slot {
		uint64_t id;
		uint32_t event; /* + 1; 0: nothing yet */
	} slots[SOURCE_ID_CACHE];
};

/* All zero is empty. */
struct tally_source {
	struct tally_data *data;
	struct tally_session_counts counts;
	uint64_t *event_samples, *event_lost; /* the second by LOST_SAMPLES records alone */
	size_t event_count;
	unsigned threads;
	int (*progress)(void *context, uint64_t done, uint64_t total);
	void *progress_context;
	/* Called while a live source waits for records, some ten times a second; a result that is
	 * not 0 ends it: -ECANCELED.  NULL: nothing. */
	int (*waiting)(void *context);
	void *waiting_context;
	/* Not every event records the time, or side-band records have none: the order in the file
	 * replaces it, for all records. */
	bool by_offset;
	int id_at; /* offset of the id in samples of all events; below 0: see source_event_of() */

	struct source_piece *pieces;
	size_t piece_count, piece_room;
	uint64_t total_bytes;
	bool live;                   /* the pieces are those of one window */
	uint64_t passed[2];          /* times up to which the last windows went, the newest first */
	uint64_t lost, lost_samples; /* see struct tally_session_counts */
	/* NULL: time alone does not decide the order of samples. */
	struct ascending_run *runs;
	size_t run_count;
	int run_time_at;           /* in a sample */
	struct source_side *sides; /* until the processes are built */
	size_t side_count, side_room;
	/* Chains of user space that follow their samples, by thread and cookie. */
	struct source_deferred *deferred;
	size_t deferred_count, deferred_room;
	struct tally_arena *side_bytes; /* until the processes are built */
	size_t side_bytes_count;
	/* Of sources that sum up early, by part of the file; NULL: samples are read again, each. */
	struct early_sums *early_sums;
	bool sums_early; /* equal samples may be counted together */
	size_t early_part_count;

	struct tally_debug_places places; /* the recording's archive */
	struct tally_jit_loads jit_loads;
	struct tally_process_table *processes;
};

/* Reads all records once, except of a live source, whose records come window by window
 * (live_windows.h).  `data` is borrowed.  0 or -errno, with words where it says too little; the
 * source is for tally_source_done() in any case. */
int tally_source_init(struct tally_source *source, struct tally_data *data,
		      const struct tally_session_options *options, struct tally_error *error);
void tally_source_done(struct tally_source *source);
/* Feeds the records that were noted, and the code that was made at run time up to a time, and
 * freezes the processes.  0 or -ENOMEM. */
int tally_source_feed_sides(struct tally_source *source, uint64_t until);
void tally_source_free_side_bytes(struct tally_source *source);
/* From now on each sample is read again. */
void tally_source_drop_early_sums(struct tally_source *source);

/* scan.c: the first pass. */
int tally_source_scan(struct tally_source *source, struct tally_error *error);
/* The event of a sample (its bytes and size); below 0: none has its id. */
int tally_source_event_miss(const struct tally_source *source, struct source_id_cache *cache,
			    const struct tally_record *record);
/* sides.c: sorts by time, keeping the order of equals; 0 or -ENOMEM. */
int tally_source_sort_sides(struct source_side *sides, size_t count);

/* Memory of the file is released in steps of this size: each step stops all threads for a
 * moment. */
#define SOURCE_FORGET_SIZE ((size_t)4 << 20)

/* Each long record is a cache miss, as only its header says where the next one is.  So a pass
 * prefetches the memory some records ahead, whatever it is.  For short records the processor does
 * that by itself. */
#define SOURCE_PREFETCH_FROM  64U
#define SOURCE_PREFETCH_AHEAD 4096U

static inline void source_prefetch(const uint8_t *record, size_t size)
{
	if (size < SOURCE_PREFETCH_FROM)
		return;
	record += SOURCE_PREFETCH_AHEAD;
	__builtin_prefetch(record);
	__builtin_prefetch(record + 64);
	for (size_t line = 128; __builtin_expect(line < size, 0); line += 64)
		__builtin_prefetch(record + line);
}

/* A walk over the records that ended early. */
static inline int source_failed(const struct tally_source *source, int result,
				struct tally_error *error)
{
	return tally_fail(error, result, -1, "%s: %s", tally_data_path(source->data),
			  result == -ECANCELED ? "interrupted"
			  : result == -ENOMEM  ? "out of memory"
			  : result == -EIO     ? "became shorter while it was read"
					       : strerror(-result));
}

static inline int source_event_of(const struct tally_source *source, struct source_id_cache *cache,
				  const struct tally_record *record)
{
	if (source->event_count == 1)
		return 0;
	if (source->id_at >= 0 && source->id_at + 8 <= (int)record->size) {
		uint64_t id = load_u64(record->bytes + source->id_at);
		/* ids are given one after the other */
		const struct source_id_slot *slot = &cache->slots[id % SOURCE_ID_CACHE];

		if (slot->id == id && slot->event)
			return (int)slot->event - 1;
	}
	return tally_source_event_miss(source, cache, record);
}

/* Not 0: the caller asks to stop. */
static inline bool source_progress(const struct tally_source *source, uint64_t done)
{
	return source->progress &&
	       source->progress(source->progress_context, done, source->total_bytes);
}

#endif
