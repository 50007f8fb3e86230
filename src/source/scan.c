/* The first pass: every record's header is looked at once.  Samples are counted, records that tell
 * of processes are noted, and the places are noted where the threads of the second pass start. */
#include "source/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/fail.h"
#include "base/table.h"
#include "file/in_place.h"

int tally_source_event_miss(const struct tally_source *source, struct source_id_cache *cache,
			    const struct tally_record *record)
{
	int event = tally_data_event_of(source->data, record);
	uint64_t id;

	if (source->id_at < 0 || (size_t)source->id_at + 8 > record->size)
		return event;
	id = load_u64(record->bytes + source->id_at);
	cache->slots[id % SOURCE_ID_CACHE] = (struct source_id_slot){id, (uint32_t)(event + 1)};
	return event;
}

void tally_scan_init(struct scan *scan, const struct tally_source *source)
{
	*scan = (struct scan){.source = source, .first = UINT64_MAX};
}

int tally_scan_count_events(struct scan *scan)
{
	size_t count = scan->source->event_count + 1;

	scan->event_samples = calloc(count, sizeof(*scan->event_samples));
	scan->event_lost = calloc(count, sizeof(*scan->event_lost));
	return scan->event_samples && scan->event_lost ? 0 : -ENOMEM;
}

void tally_scan_done(struct scan *scan)
{
	free(scan->event_samples);
	free(scan->event_lost);
	free(scan->pieces);
	free(scan->sides);
	free(scan->deferred);
	tally_arena_done(&scan->side_bytes);
	tally_early_sums_done(&scan->early);
	tally_run_finder_done(&scan->runs);
	*scan = (struct scan){0};
}

int tally_scan_add_piece(struct scan *scan, size_t end)
{
	if (end == scan->piece_at)
		return 0;
	if (!array_next(&scan->pieces, &scan->piece_room, scan->piece_count, 64,
			sizeof(*scan->pieces)))
		return -ENOMEM;
	scan->pieces[scan->piece_count++] = (struct source_piece){
	    .bytes = scan->block.bytes + scan->piece_at,
	    .size = end - scan->piece_at,
	    .offset = scan->block.offset + scan->piece_at,
	    .first_other = scan->first_other,
	    .behind_others = scan->behind_others,
	};
	scan->piece_at = end;
	scan->first_other = scan->behind_others = 0;
	return 0;
}

/* When a record happened: what its trailer says, else its body, else the last record before it that
 * has a time. */
static uint64_t side_time(struct scan *scan, const struct tally_record *record)
{
	const struct tally_source *source = scan->source;
	int event = tally_data_event_of(source->data, record);
	int back;

	if (source->by_offset)
		return record->offset;
	back = tally_data_event(source->data, event < 0 ? 0 : (size_t)event)
		   ->layout.trailer_at[TALLY_FIXED_TIME];
	if (back > 0 && record->size >= 8 + back)
		return load_u64(record->bytes + record->size - back);
	/* FORK and EXIT: header, pid, ppid, tid, ptid, time.  Source: perf_event.h. */
	if (record->type == PERF_RECORD_FORK && record->size >= 32) {
		scan->last_time = load_u64(record->bytes + 24);
		scan->has_last_time = true;
	}
	scan->asked_before |= !scan->has_last_time;
	return scan->last_time;
}

static int note_side(struct scan *scan, const struct tally_record *record)
{
	const uint8_t *bytes = record->bytes;

	if (!array_next(&scan->sides, &scan->side_room, scan->side_count, 1024,
			sizeof(*scan->sides)))
		return -ENOMEM;
	if (scan->copies_sides) {
		uint8_t *copy = tally_arena_alloc(&scan->side_bytes, record->size);

		if (!copy)
			return -ENOMEM;
		bytes = memcpy(copy, record->bytes, record->size);
	}
	scan->sides[scan->side_count++] = (struct source_side){
	    .time = side_time(scan, record),
	    .bytes = bytes,
	    .offset = record->offset,
	};
	return 0;
}

static int note_deferred(struct scan *scan, const struct tally_record *record)
{
	const struct tally_source *source = scan->source;
	int event = tally_data_event_of(source->data, record);
	struct source_deferred found;

	if (!tally_deferred_read(
		&tally_data_event(source->data, event < 0 ? 0 : (size_t)event)->layout, record,
		side_time(scan, record), &found))
		return 0;
	if (!array_next(&scan->deferred, &scan->deferred_room, scan->deferred_count, 1024,
			sizeof(*scan->deferred)))
		return -ENOMEM;
	scan->deferred[scan->deferred_count++] = found;
	return 0;
}

int tally_scan_refuse(struct scan *scan, const struct tally_record *record, size_t at)
{
	size_t next = at + (size_t)tally_record_extent(record);
	int result;

	if (!tally_file_ends_well(scan->source->data, record))
		return SCAN_REFUSED;
	result = tally_scan_add_piece(scan, at);
	file_refuse(&scan->refused, record);
	scan->counts.unusable++;
	scan->piece_at = next;
	return result;
}

/* Records begin in the first 4 MiB of a piece, as order.h has them. */
static void note_other(struct scan *scan, const struct tally_record *record)
{
	uint32_t at = (uint32_t)(record->offset - scan->block.offset - scan->piece_at);

	if (!scan->behind_others)
		scan->first_other = at;
	scan->behind_others = at + 1;
}

/* Its trailer says of which event. */
static void count_lost_samples(struct scan *scan, const struct tally_record *record)
{
	uint64_t lost = load_u64(record->bytes + 8);
	int event = tally_data_event_of(scan->source->data, record);

	scan->lost_samples += lost;
	if (event >= 0)
		scan->event_lost[event] += lost;
}

int tally_scan_other(struct scan *scan, const struct tally_record *record)
{
	if (!tally_file_trusts_other(scan->source->data, record))
		return SCAN_REFUSED;
	scan->counts.by_type[record->type < 127 ? record->type : 127]++;
	note_other(scan, record);
	switch (record->type) {
	case PERF_RECORD_COMM: /* header, pid, tid */
		if (record->size >= 16)
			tally_early_sums_end_phase(&scan->early, load_u32(record->bytes + 8),
						   load_u32(record->bytes + 12),
						   side_time(scan, record));
		return note_side(scan, record);
	case PERF_RECORD_FORK: /* header, pid, ppid, tid, ptid */
		if (record->size >= 24)
			tally_early_sums_end_phase(&scan->early, load_u32(record->bytes + 8),
						   load_u32(record->bytes + 16),
						   side_time(scan, record));
		return note_side(scan, record);
	case PERF_RECORD_MMAP: /* header, pid, tid */
	case PERF_RECORD_MMAP2:
		if (record->size >= 16)
			tally_early_sums_mapped(&scan->early, load_u32(record->bytes + 8),
						load_u32(record->bytes + 12),
						side_time(scan, record), record->offset);
		return note_side(scan, record);
	case PERF_RECORD_KSYMBOL:
		return note_side(scan, record);
	case PERF_RECORD_CALLCHAIN_DEFERRED:
		return note_deferred(scan, record);
	case PERF_RECORD_EXIT: /* only what goes on without end forgets */
		return scan->source->live ? note_side(scan, record) : 0;
	case PERF_RECORD_LOST: /* header, id, lost */
		if (record->size >= 24)
			scan->lost += load_u64(record->bytes + 16);
		return 0;
	case PERF_RECORD_LOST_SAMPLES: /* header, lost */
		if (record->size >= 16)
			count_lost_samples(scan, record);
		return 0;
	case PERF_RECORD_THROTTLE:
		scan->counts.throttled++;
		return 0;
	default:
		return 0;
	}
}

static int take_sample(struct scan *scan, const struct tally_record *record)
{
	const struct tally_source *source = scan->source;
	int event = source_event_of(source, &scan->ids, record);
	int time_at;

	if (event < 0 || !file_trusts_sample(tally_file_trust(source->data, (size_t)event), record))
		return SCAN_REFUSED;
	scan->counts.by_type[PERF_RECORD_SAMPLE]++;
	scan->event_samples[event]++;
	time_at = tally_data_event(source->data, (size_t)event)->layout.at[TALLY_FIXED_TIME];
	if (time_at >= 0)
		scan_time(scan, load_u64(record->bytes + time_at));
	return 0;
}

void tally_scan_forget(struct scan *scan, size_t end)
{
	const struct tally_block seen = {
	    .bytes = scan->block.bytes + scan->forgotten,
	    .size = end - scan->forgotten,
	    .offset = scan->block.offset + scan->forgotten,
	};

	if (!scan->copies_sides || seen.size < SOURCE_FORGET_SIZE)
		return;
	tally_data_forget(scan->source->data, &seen);
	scan->forgotten = end;
}

static int end_piece(struct scan *scan, size_t end)
{
	int result = tally_scan_add_piece(scan, end);

	tally_scan_forget(scan, end);
	if (!result && source_progress(scan->source, scan->block.offset + end))
		result = -ECANCELED;
	return result;
}

/* Walks the block until its end, or until a place where no record can stand: its offset in
 * *ret_bad, SIZE_MAX for none. */
static int walk_block(struct scan *scan, size_t *ret_bad)
{
	struct tally_record record;
	int result = 0;
	size_t at = 0;

	scan->piece_at = scan->forgotten = 0;
	*ret_bad = SIZE_MAX;
	while (!result && at < scan->block.size) {
		if (!tally_block_record(&scan->block, at, &record)) {
			*ret_bad = at;
			break;
		}
		source_prefetch(record.bytes, record.size);
		if (record.type == PERF_RECORD_SAMPLE)
			result = take_sample(scan, &record);
		else
			result = tally_scan_other(scan, &record);
		if (__builtin_expect(result == SCAN_REFUSED, 0))
			result = tally_scan_refuse(scan, &record, at);
		if (result == SCAN_REFUSED) {
			*ret_bad = at;
			result = 0;
			break;
		}
		at += (size_t)tally_record_extent(&record);
		if (!result && at >= scan->piece_at + SOURCE_PIECE_SIZE)
			result = end_piece(scan, at);
	}
	return result ? result : end_piece(scan, at);
}

/* Appends a list to a list, which takes it whole when it is empty. */
static int append(void **list, size_t *count, size_t *room, void **from, size_t from_count,
		  size_t from_room, size_t each)
{
	uint8_t *more;

	if (!*list) {
		*list = *from;
		*count = from_count;
		*room = from_room;
		*from = NULL;
		return 0;
	}
	if (!from_count)
		return 0;
	more = reallocarray(*list, *count + from_count, each);
	if (!more)
		return -ENOMEM;
	memcpy(more + *count * each, *from, from_count * each);
	*list = more;
	*room = *count += from_count;
	return 0;
}

int tally_scan_take(struct tally_source *source, struct scan *scans, size_t count)
{
	struct tally_session_counts *counts = &source->counts;
	uint64_t first = counts->last_time ? counts->first_time : UINT64_MAX;
	uint64_t last = counts->last_time;
	struct file_refused refused = tally_file_refused_before(source->data);

	for (size_t i = 0; i < count; i++) {
		struct scan *scan = &scans[i];

		for (size_t type = 0; type < 128; type++) {
			counts->by_type[type] += scan->counts.by_type[type];
			counts->records += scan->counts.by_type[type];
		}
		for (size_t event = 0; event < source->event_count; event++) {
			source->event_samples[event] += scan->event_samples[event];
			source->event_lost[event] += scan->event_lost[event];
			counts->samples += scan->event_samples[event];
		}
		counts->throttled += scan->counts.throttled;
		counts->unusable += scan->counts.unusable;
		file_refused_add(&refused, &scan->refused);
		source->lost += scan->lost;
		source->lost_samples += scan->lost_samples;
		first = scan->first < first ? scan->first : first;
		last = scan->last > last ? scan->last : last;
		if (append((void **)&source->pieces, &source->piece_count, &source->piece_room,
			   (void **)&scan->pieces, scan->piece_count, scan->piece_room,
			   sizeof(*scan->pieces)) ||
		    append((void **)&source->sides, &source->side_count, &source->side_room,
			   (void **)&scan->sides, scan->side_count, scan->side_room,
			   sizeof(*scan->sides)) ||
		    append((void **)&source->deferred, &source->deferred_count,
			   &source->deferred_room, (void **)&scan->deferred, scan->deferred_count,
			   scan->deferred_room, sizeof(*scan->deferred)))
			return -ENOMEM;
	}
	tally_deferred_sort(source->deferred, source->deferred_count);
	tally_file_count_refused(source->data, &refused);
	/* LOST counts what a ring had no room for, LOST_SAMPLES the same by event where the
	 * recorder asked the counters for it: not two losses. */
	counts->lost = source->lost > source->lost_samples ? source->lost : source->lost_samples;
	if (last || first != UINT64_MAX) {
		counts->first_time = first;
		counts->last_time = last;
	}
	return 0;
}

/* The records' bytes stay until the processes are built. */
static int keep_sides(struct tally_source *source, struct scan *scan)
{
	source->side_bytes = calloc(1, sizeof(*source->side_bytes));
	if (!source->side_bytes)
		return -ENOMEM;
	source->side_bytes_count = 1;
	source->side_bytes[0] = scan->side_bytes;
	scan->side_bytes = (struct tally_arena){0};
	return 0;
}

/* Block by block, and over damaged places. */
static int scan_blocks(struct tally_source *source, struct tally_error *error)
{
	struct scan *scan = malloc(sizeof(*scan));
	int more;

	if (!scan)
		return source_failed(source, -ENOMEM, error);
	tally_scan_init(scan, source);
	scan->has_last_time = true; /* 0 before the first */
	scan->copies_sides = true;
	more = tally_scan_count_events(scan);
	tally_data_rewind(source->data);
	more = more ? source_failed(source, more, error)
		    : tally_data_next(source->data, &scan->block, error);
	source->total_bytes = tally_data_offset_end(source->data);
	while (more > 0) {
		size_t bad;
		int result = walk_block(scan, &bad);

		if (result)
			more = source_failed(source, result, error);
		else if (bad != SIZE_MAX)
			more = tally_data_block_bad(source->data, scan->block.offset + bad,
						    &scan->block, error);
		else
			more = tally_data_next(source->data, &scan->block, error);
	}
	if (!more && (tally_scan_take(source, scan, 1) || keep_sides(source, scan)))
		more = source_failed(source, -ENOMEM, error);
	tally_scan_done(scan);
	free(scan);
	return more;
}

int tally_source_scan(struct tally_source *source, struct tally_error *error)
{
	int result = 0;

	if (!source->by_offset && source->event_count)
		result = tally_source_scan_parts(source, error);
	return result ? (result < 0 ? result : 0) : scan_blocks(source, error);
}
