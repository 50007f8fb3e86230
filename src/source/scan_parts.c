/* The first pass over a sound file: several threads look at each record once, each thread in a part
 * of the file of its own.
 *
 * Where a part starts is guessed from a run of records that fit each other, and proved afterwards:
 * the walk over the part before must end exactly there.  A file that is not so (damaged, or
 * swapped) is left to the walk over blocks. */
#include "source/scan.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "base/fail.h"
#include "base/pool.h"
#include "base/table.h"
#include "file/in_place.h"

/* So much of the file is mapped at once; a record is at most 64 KiB long. */
#define WINDOW_SIZE ((size_t)1 << 20)
/* Less than this is not worth a thread. */
#define PART_LEAST ((size_t)4 << 20)

/* A start is guessed from so many records, looked for so far. */
#define GUESS_RECORDS 32U
#define GUESS_REACH   ((size_t)128 * 1024)

#define UNSOUND 1

struct part {
	struct scan scan;
	size_t from, to; /* in the block; the last record may pass `to` */
	size_t stop;     /* where the walk ended */
	int result;
} __attribute__((aligned(TABLE_APART)));

struct walk {
	struct tally_source *source;
	struct tally_block block;
	const struct file_trust *trusts; /* by event */
	struct part *parts;
	_Atomic uint64_t done;
	atomic_bool no_early; /* no groups: the samples are read again, each */
};

static bool header_fits(const uint8_t *at, size_t left, size_t *ret_size)
{
	const struct perf_event_header *header = (const void *)at;

	if (left < sizeof(*header) || header->size < sizeof(*header) || header->size % 8 ||
	    header->size > left || !header->type || header->type >= 128 ||
	    header->type == PERF_RECORD_AUXTRACE)
		return false;
	*ret_size = header->size;
	return true;
}

/* The first place from `from` on where a run of records seems to stand; the block's end when there
 * is none near. */
static size_t guess_start(const struct tally_block *block, size_t from)
{
	size_t reach = block->size - from < GUESS_REACH ? block->size : from + GUESS_REACH;

	for (; from < reach; from += 8) {
		size_t at = from, size;
		unsigned run = 0;

		while (run < GUESS_RECORDS &&
		       header_fits(block->bytes + at, block->size - at, &size)) {
			at += size;
			run++;
		}
		if (run == GUESS_RECORDS)
			return from;
	}
	return block->size;
}

/* `at`: in its piece. */
static inline int take_sample(const struct walk *walk, struct scan *scan,
			      const struct tally_record *record, size_t at, bool group)
{
	int event = source_event_of(walk->source, &scan->ids, record);
	const uint8_t *bytes = record->bytes;
	const struct file_trust *trust = &walk->trusts[event < 0 ? 0 : event];
	const struct tally_layout *layout = trust->layout;
	struct early_sample sample;
	uint64_t time;

	if (event < 0 || !file_trusts_sample(trust, record))
		return SCAN_REFUSED;
	scan->event_samples[event]++;
	time = sample_word(layout, bytes, TALLY_FIXED_TIME);
	scan_time(scan, time);
	if (scan->runs.on)
		return run_finder_add(&scan->runs, time, scan->piece_count, at);
	if (!group)
		return 0;
	sample = (struct early_sample){
	    .addr = sample_word(layout, bytes, TALLY_FIXED_IP),
	    .time = time,
	    .period = sample_word(layout, bytes, TALLY_FIXED_PERIOD),
	    .offset = record->offset,
	    .pid = sample_pid(layout, bytes),
	    .tid = sample_tid(layout, bytes),
	    .event = (uint16_t)event,
	    .cpumode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK,
	};
	return early_sums_add(&scan->early, &sample);
}

static int add_other(struct run_finder *finder, const struct tally_record *record)
{
	int back = finder->trailer_back;

	if (record->type == PERF_RECORD_FINISHED_ROUND)
		return tally_run_finder_round(finder);
	/* Records of the perf tool have no trailer. */
	if (record->type < 64 && back > 0 && record->size >= 8 + back)
		run_finder_add_time(finder, load_u64(record->bytes + record->size - back));
	return 0;
}

/* The records in a window that start before `to`; *ret_at is behind the last whole one. */
static int walk_window(struct walk *walk, struct scan *scan, const struct tally_block *window,
		       size_t to, size_t *ret_at)
{
	size_t base = window->offset - walk->block.offset, at = 0;
	uint64_t samples = 0;
	bool group = !atomic_load_explicit(&walk->no_early, memory_order_relaxed);
	int result = 0;

	while (!result && window->size - at >= sizeof(struct perf_event_header) && base + at < to) {
		const struct perf_event_header *header = (const void *)(window->bytes + at);
		struct tally_record record = {
		    .bytes = window->bytes + at,
		    .offset = window->offset + at,
		    .type = header->type,
		    .misc = header->misc,
		    .size = header->size,
		};
		uint64_t extent = record.size;

		if (record.size < sizeof(*header) || record.size % 8) {
			result = UNSOUND;
			break;
		}
		if (record.size > window->size - at)
			break;
		source_prefetch(record.bytes, record.size);
		if (record.type == PERF_RECORD_SAMPLE) {
			result =
			    take_sample(walk, scan, &record, base + at - scan->piece_at, group);
			samples += result != SCAN_REFUSED;
		} else {
			extent = tally_record_extent(&record);
			if (extent > walk->block.size - base - at) {
				result = UNSOUND;
				break;
			}
			result = tally_scan_other(scan, &record);
			if (!result && scan->runs.on)
				result = add_other(&scan->runs, &record);
		}
		if (__builtin_expect(result == SCAN_REFUSED, 0))
			result = tally_scan_refuse(scan, &record, base + at) ? UNSOUND : 0;
		at += (size_t)extent;
		if (base + at >= scan->piece_at + SOURCE_PIECE_SIZE && !result)
			result = tally_scan_add_piece(scan, base + at);
		/* What follows an AUXTRACE record reaches beyond the window. */
		if (at > window->size)
			break;
	}
	scan->counts.by_type[PERF_RECORD_SAMPLE] += samples;
	*ret_at = at;
	return result;
}

static int walk_part(struct walk *walk, struct part *part, bool shows)
{
	struct scan *scan = &part->scan;
	const struct tally_block *block = &walk->block;
	size_t at = part->from, step = 0;
	int result = tally_scan_count_events(scan);

	scan->block = *block;
	scan->copies_sides = true;
	scan->has_last_time = !part->from;
	scan->piece_at = scan->forgotten = at;
	tally_run_finder_init(&scan->runs, walk->source);
	for (; !result && at < part->to; at += step) {
		const struct tally_block window = {
		    .bytes = block->bytes + at,
		    .size = block->size - at < WINDOW_SIZE ? block->size - at : WINDOW_SIZE,
		    .offset = block->offset + at,
		};
		uint64_t done;

		result = tally_data_populate(walk->source->data, &window);
		if (!result)
			result = walk_window(walk, scan, &window, part->to, &step);
		if (!result && tally_early_sums_too_many(&scan->early))
			atomic_store_explicit(&walk->no_early, true, memory_order_relaxed);
		if (atomic_load_explicit(&walk->no_early, memory_order_relaxed))
			tally_early_sums_done(&scan->early);
		if (!result && !step)
			result = UNSOUND;
		tally_scan_forget(scan, at + step < block->size ? at + step : block->size);
		done = atomic_fetch_add_explicit(&walk->done, step, memory_order_relaxed);
		if (!result && shows && source_progress(walk->source, done + step))
			result = -ECANCELED;
	}
	if (!result)
		result = tally_scan_add_piece(scan, at);
	if (!result && !atomic_load_explicit(&walk->no_early, memory_order_relaxed))
		result = tally_early_sums_finish(&scan->early);
	part->stop = at;
	return result;
}

static int walk_numbered(void *context, unsigned worker, size_t number)
{
	struct walk *walk = context;
	struct part *part = &walk->parts[number];

	part->result = walk_part(walk, part, !worker);
	/* A wrong guess shows itself as anything. */
	return part->result == UNSOUND ? 0 : part->result;
}

/* Walks the parts and proves them; UNSOUND when anything does not fit. */
static int walk_parts(struct walk *walk, size_t count)
{
	int result = tally_pool_run(walk->source->threads, count, walk_numbered, walk);

	for (size_t i = 0; !result && i < count; i++) {
		const struct part *part = &walk->parts[i];
		size_t end = i + 1 < count ? part[1].from : walk->block.size;

		if (part->result || part->stop != end || part->scan.asked_before)
			result = UNSOUND;
	}
	return result;
}

/* Hands over what the walks found. */
static int take_parts(struct tally_source *source, struct part *parts, size_t count)
{
	struct scan *scans = calloc(count, sizeof(*scans));
	int result = 0;

	source->early_sums = calloc(count, sizeof(*source->early_sums));
	source->side_bytes = calloc(count, sizeof(*source->side_bytes));
	source->side_bytes_count = source->side_bytes ? count : 0;
	if (!scans || !source->early_sums || !source->side_bytes) {
		free(scans);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		scans[i] = parts[i].scan;
		parts[i].scan = (struct scan){0};
		source->early_sums[i] = scans[i].early;
		source->side_bytes[i] = scans[i].side_bytes;
		scans[i].early = (struct early_sums){0};
		scans[i].side_bytes = (struct tally_arena){0};
	}
	source->early_part_count = count;
	result = tally_ascending_runs_take(source, scans, count);
	if (!result)
		result = tally_scan_take(source, scans, count);
	for (size_t i = 0; i < count; i++)
		tally_scan_done(&scans[i]);
	free(scans);
	return result;
}

int tally_source_scan_parts(struct tally_source *source, struct tally_error *error)
{
	struct walk walk = {.source = source};
	size_t count = 0, most;
	int result;

	tally_data_rewind(source->data);
	result = tally_data_next(source->data, &walk.block, error);
	if (result < 0)
		return result;
	source->total_bytes = tally_data_offset_end(source->data);
	atomic_store(&walk.no_early,
		     !source->sums_early || source->event_count > EARLY_EVENTS_MOST);
	if (!result || !tally_data_block_in_place(source->data, &walk.block))
		return 0;
	most = walk.block.size / PART_LEAST + 1;
	most = most < source->threads ? most : source->threads;
	walk.trusts = tally_file_trust(source->data, 0);
	walk.parts = table_apart(most, sizeof(*walk.parts));
	result = walk.parts ? 0 : -ENOMEM;
	for (size_t i = 0; !result && i < most; i++) {
		size_t from =
		    i ? guess_start(&walk.block, (walk.block.size / most * i) & ~(size_t)7) : 0;

		if (i && (from == walk.block.size || from <= walk.parts[count - 1].from))
			continue;
		if (i)
			walk.parts[count - 1].to = from;
		walk.parts[count].from = from;
		walk.parts[count].to = walk.block.size;
		tally_scan_init(&walk.parts[count++].scan, source);
	}
	if (!result)
		result = walk_parts(&walk, count);
	/* A rest that no block can hold is reported here; there is nothing more in a sound file. */
	if (!result)
		result = tally_data_next(source->data, &walk.block, NULL);
	if (!result)
		result = take_parts(source, walk.parts, count);
	if (!result && atomic_load(&walk.no_early))
		tally_source_drop_early_sums(source);
	for (size_t i = 0; i < count; i++)
		tally_scan_done(&walk.parts[i].scan);
	free(walk.parts);
	if (result == UNSOUND)
		return 0;
	if (result < 0)
		return source_failed(source, result, error);
	return 1;
}
