/* The state and the results of one pass over records. */
#ifndef TALLY_SOURCE_SCAN_H
#define TALLY_SOURCE_SCAN_H

#include "file/trust.h"
#include "source/early_sums.h"
#include "source/source.h"

/* The result for a record that cannot be trusted. */
#define SCAN_REFUSED 2

struct scan {
	const struct tally_source *source;
	struct tally_block block;
	size_t piece_at;                     /* where the piece under way starts */
	uint32_t first_other, behind_others; /* of it, as in source_piece */
	uint64_t last_time; /* of the last record that has it: for those that do not */
	bool has_last_time;
	bool asked_before; /* a record needed the time of one before the walk's start */
	size_t forgotten;  /* so much of the block */
	bool copies_sides; /* the bytes walked over will not stay */
	struct tally_arena side_bytes;
	struct tally_session_counts counts; /* by_type, throttled, unusable */
	uint64_t *event_samples, *event_lost;
	struct source_piece *pieces;
	size_t piece_count, piece_room;
	struct source_side *sides;
	size_t side_count, side_room;
	struct source_deferred *deferred;
	size_t deferred_count, deferred_room;
	uint64_t lost, lost_samples;
	uint64_t first, last; /* times of samples */
	struct source_id_cache ids;
	struct early_sums early;
	struct file_refused refused; /* records that no piece holds */
	struct run_finder runs;
};

void tally_scan_init(struct scan *scan, const struct tally_source *source);
/* Makes the counts by event, all 0.  0 or -ENOMEM. */
int tally_scan_count_events(struct scan *scan);
void tally_scan_done(struct scan *scan);
/* The piece under way ends here; 0 or -ENOMEM. */
int tally_scan_add_piece(struct scan *scan, size_t end);
/* The memory of what was walked over is given back, when it is enough to be worth it. */
void tally_scan_forget(struct scan *scan, size_t end);
/* Takes any record but a sample: 0, SCAN_REFUSED, -ENOMEM. */
int tally_scan_other(struct scan *scan, const struct tally_record *record);
/* A record that cannot be trusted, at a place in the block: pieces go on behind it, unless no
 * record can stand there.  0, SCAN_REFUSED in that case, -ENOMEM. */
int tally_scan_refuse(struct scan *scan, const struct tally_record *record, size_t at);
/* Moves the results of the passes over parts of the file, in order, into the source; 0 or
 * -ENOMEM. */
int tally_scan_take(struct tally_source *source, struct scan *scans, size_t count);

/* scan_parts.c: the first pass by several threads, which also counts samples in groups when the
 * source may.  1: done; 0: not for this file, and nothing was changed; -errno. */
int tally_source_scan_parts(struct tally_source *source, struct tally_error *error);

static inline void scan_time(struct scan *scan, uint64_t time)
{
	scan->last_time = time;
	scan->has_last_time = true;
	scan->first = time < scan->first ? time : scan->first;
	scan->last = time > scan->last ? time : scan->last;
}

#endif
