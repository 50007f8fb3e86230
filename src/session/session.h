/* A session inside: what its parts share. */
#ifndef TALLY_SESSION_SESSION_H
#define TALLY_SESSION_SESSION_H

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <tally/session.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "image/image.h"
#include "process/process.h"
#include "session/ascending_runs.h"
#include "session/frames.h"
#include "session/early_sums.h"
#include "session/stacks.h"
#include "session/thread_numbers.h"

/* Bytes of records that one thread takes at a time: enough that taking one costs nothing, few
 * enough that the last ones are shared out evenly. */
#define SESSION_PIECE_SIZE ((size_t)256 * 1024)

/* A run of whole records whose headers were checked. */
struct session_piece {
	const uint8_t *bytes;
	size_t size;
	uint64_t offset; /* in the file */
};

/* A record about processes. */
struct session_side {
	uint64_t time;
	const uint8_t *bytes;
	uint64_t offset;
};

#define SESSION_ID_CACHE 64U

/* Ids that samples had lately, and their events; one a thread. */
struct session_id_cache {
	struct session_id_slot {
		uint64_t id;
		uint32_t event; /* + 1; 0: nothing yet */
	} slots[SESSION_ID_CACHE];
};

struct tally_left_out;
struct tally_sample_filter;
struct tally_sample_test;

struct tally_session {
	struct tally_data *data;
	struct tally_session_options options; /* its strings are the arena's */
	struct tally_arena arena;
	struct tally_session_counts counts;
	uint64_t *event_samples;
	size_t event_count;
	unsigned threads;
	/* Not every event has its time: order in the file stands for it, for all records. */
	bool by_offset;
	int id_at; /* offset of the id in samples of all events; below 0: see session_event_of() */

	struct session_piece *pieces;
	size_t piece_count, piece_room;
	uint64_t total_bytes;
	bool live;                   /* the pieces are those of one window */
	uint64_t passed[2];          /* times up to which the last windows went, the newest first */
	uint64_t lost, lost_samples; /* see struct tally_session_counts */
	/* NULL: time alone does not tell the order of samples. */
	struct ascending_run *runs;
	size_t run_count;
	int run_time_at;            /* in a sample */
	struct session_side *sides; /* until the processes are built */
	size_t side_count, side_room;
	/* Of sessions that sum up early, by part of the file; NULL: samples are read again, each.
	 */
	struct early_sums *early_sums;
	bool sums_early;                /* rows will stand for several samples */
	struct tally_arena *side_bytes; /* until the processes are built */
	size_t side_bytes_count;
	size_t early_part_count;

	struct tally_process_table *processes;
	struct tally_image_store *images;
	struct tally_frames frames;
	struct tally_chain_images *chain_images;
	struct tally_stacks stacks;
	struct tally_thread_numbers threads_met;
	struct tally_left_out *left_out; /* by event, of the last run; NULL: none was */
	uint32_t unwind_most;            /* frames of a chain */
	uint32_t stack_most;             /* frames of a stack; 0: all */
	struct tally_map build_ids;      /* hash of a filename -> index in the data's info, + 1 */
	const struct tally_mapping *kernel; /* of the kernel's text; NULL: no record has it */
	bool kernel_guessed; /* none does, and the recording may be of the running kernel */
	const struct tally_sample_filter *filter; /* NULL: none */
	const struct tally_sample_test *test;     /* NULL: none */
};

/* scan.c: the first pass. */
int tally_session_scan(struct tally_session *session, struct tally_error *error);
/* The event of a sample (its bytes and size); below 0: none has its id. */
int tally_session_event_miss(const struct tally_session *session, struct session_id_cache *cache,
			     const struct tally_record *record);
/* session.c: feeds the records that were noted, and freezes the processes.  0 or -ENOMEM. */
int tally_session_feed_sides(struct tally_session *session);
void tally_session_free_side_bytes(struct tally_session *session);
/* Which mapping is the kernel's text. */
void tally_session_find_kernel(struct tally_session *session);
/* sides.c: sorts by time, keeping the order of equals; 0 or -ENOMEM. */
int tally_session_sort_sides(struct session_side *sides, size_t count);

/* So much of the file is forgotten at a time: each time stops all threads for a moment. */
#define SESSION_FORGET_SIZE ((size_t)4 << 20)

/* Long records are a miss of the caches each, as only its header says where the next one is; so a
 * walk asks for what is some records ahead before it is known what it is.  Short ones the processor
 * asks for by itself. */
#define SESSION_PREFETCH_FROM  64U
#define SESSION_PREFETCH_AHEAD 4096U

static inline void session_prefetch(const uint8_t *record, size_t size)
{
	if (size < SESSION_PREFETCH_FROM)
		return;
	record += SESSION_PREFETCH_AHEAD;
	__builtin_prefetch(record);
	__builtin_prefetch(record + 64);
	for (size_t line = 128; __builtin_expect(line < size, 0); line += 64)
		__builtin_prefetch(record + line);
}

/* A walk over the records that ended early. */
static inline int session_failed(const struct tally_session *session, int result,
				 struct tally_error *error)
{
	return tally_fail(error, result, -1, "%s: %s", tally_data_path(session->data),
			  result == -ECANCELED ? "interrupted"
			  : result == -ENOMEM  ? "out of memory"
			  : result == -EIO     ? "became shorter while it was read"
					       : strerror(-result));
}

static inline int session_event_of(const struct tally_session *session,
				   struct session_id_cache *cache,
				   const struct tally_record *record)
{
	if (session->event_count == 1)
		return 0;
	if (session->id_at >= 0 && session->id_at + 8 <= (int)record->size) {
		uint64_t id = load_u64(record->bytes + session->id_at);
		/* ids are given one after the other */
		const struct session_id_slot *slot = &cache->slots[id % SESSION_ID_CACHE];

		if (slot->id == id && slot->event)
			return (int)slot->event - 1;
	}
	return tally_session_event_miss(session, cache, record);
}

static inline bool session_progress(const struct tally_session *session, uint64_t done)
{
	return session->options.progress &&
	       session->options.progress(session->options.progress_context, done,
					 session->total_bytes);
}

#endif
