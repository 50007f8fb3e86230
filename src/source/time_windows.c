#include "source/time_windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"

/* A run that was in so many windows is not looked at from its start again. */
#define WINDOWS_PATIENT 3U

#define SIZE_MASK ((1U << ORDER_SIZE_BITS) - 1)

static size_t run_bytes(const struct ascending_run *run)
{
	return (run->place & SIZE_MASK) * 8 + 8;
}

/* Slices of the recording's time in which runs are counted. */
#define SLICES 4096U

/* No more than so many bytes of runs have a time in common: all of them where that is little, else
 * those that have one in the same slice.  UINT64_MAX: out of memory. */
static uint64_t overlap(const struct tally_source *source)
{
	uint64_t begin = source->counts.first_time, all = 0, open = 0, most = 0, slice;
	uint64_t *begun, *ended;

	for (size_t i = 0; i < source->run_count; i++)
		all += run_bytes(&source->runs[i]);
	if (all <= WINDOWS_OVERLAP)
		return all;
	begun = calloc((SLICES + 1) * 2, sizeof(*begun));
	if (!begun)
		return UINT64_MAX;
	ended = begun + SLICES + 1;
	slice = (source->counts.last_time - begin) / SLICES + 1;
	for (size_t i = 0; i < source->run_count; i++) {
		const struct ascending_run *run = &source->runs[i];

		/* Both are times of samples, which the counts are of. */
		begun[(run->first - begin) / slice] += run_bytes(run);
		ended[(run->last - begin) / slice] += run_bytes(run);
	}
	for (size_t i = 0; i < SLICES; i++) {
		open += begun[i];
		most = open > most ? open : most;
		open -= ended[i];
	}
	free(begun);
	return most;
}

int tally_time_windows_init(struct time_windows *windows, const struct tally_source *source,
			    size_t bytes)
{
	int64_t count;

	*windows = (struct time_windows){.source = source, .bytes = bytes};
	if (overlap(source) > WINDOWS_OVERLAP)
		return -E2BIG;
	for (size_t i = 0; i < source->run_count; i++)
		if (time_queue_put(&windows->queue, source->runs[i].first, i))
			return -ENOMEM;
	count = tally_time_queue_release(&windows->queue, UINT64_MAX);
	return count < 0 ? (int)count : 0;
}

void tally_time_windows_done(struct time_windows *windows)
{
	tally_time_queue_done(&windows->queue);
	free(windows->open);
	*windows = (struct time_windows){0};
}

/* Opens runs until a window is long enough; *ret_until is where it ends.  0 or -ENOMEM. */
static int open_some(struct time_windows *windows, uint64_t *ret_until)
{
	const struct tally_source *source = windows->source;
	uint64_t least = windows->open_count ? windows->from : UINT64_MAX;
	size_t bytes = 0;

	for (;;) {
		const struct time_entry *next;
		int64_t count = tally_time_queue_next(&windows->queue, &next);
		const struct ascending_run *run;

		if (count < 0)
			return (int)count;
		if (!count) {
			*ret_until = UINT64_MAX;
			return 0;
		}
		least = next->time < least ? next->time : least;
		if (bytes >= windows->bytes && next->time > least) {
			*ret_until = next->time;
			return 0;
		}
		if (!array_next(&windows->open, &windows->open_room, windows->open_count, 64,
				sizeof(*windows->open)))
			return -ENOMEM;
		run = &source->runs[next->place];
		windows->open[windows->open_count++] =
		    (struct window_run){.number = (uint32_t)next->place, .place = run->place};
		bytes += run_bytes(run);
		windows->passed += run_bytes(run);
		time_queue_taken(&windows->queue, 1);
	}
}

static int by_number(const void *left, const void *right)
{
	const struct window_run *a = left, *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

/* New ones stand behind, in the order of their times. */
static void sort_open(struct time_windows *windows, size_t old)
{
	bool sorted = true;

	for (size_t i = old ? old : 1; sorted && i < windows->open_count; i++)
		sorted = windows->open[i - 1].number < windows->open[i].number;
	if (!sorted)
		qsort(windows->open, windows->open_count, sizeof(*windows->open), by_number);
}

/* The samples of a run, one by one. */
struct run_walk {
	const uint8_t *bytes; /* of the run */
	size_t at, rest;      /* in it; of the last sample */
	size_t limit;         /* bytes of its piece */
	int time_at;
};

static struct run_walk walk_begin(const struct tally_source *source, uint64_t place)
{
	const struct source_piece *piece =
	    &source->pieces[place >> (ORDER_SIZE_BITS + ORDER_OFFSET_BITS)];
	const uint8_t *bytes = order_bytes(source, place);

	return (struct run_walk){
	    .bytes = bytes,
	    .rest = (place & SIZE_MASK) * 8,
	    .limit = piece->size - (size_t)(bytes - piece->bytes),
	    .time_at = source->run_time_at,
	};
}

/* The size and time of the sample that comes next, which walk->at is behind then; 0: no more. */
static inline size_t walk_next(struct run_walk *walk, uint64_t *ret_time)
{
	while (walk->at <= walk->rest) {
		const struct perf_event_header *header = (const void *)(walk->bytes + walk->at);
		struct tally_record record = {
		    .bytes = walk->bytes + walk->at, .type = header->type, .size = header->size};
		uint64_t extent;

		/* All this was looked at before; but a file can be written to. */
		if (record.size < sizeof(*header) || record.size % 8 ||
		    record.size > walk->limit - walk->at)
			return 0;
		source_prefetch(record.bytes, record.size);
		if (__builtin_expect(record.type != PERF_RECORD_SAMPLE, 0)) {
			extent = tally_record_extent(&record);
			if (extent > walk->limit - walk->at)
				return 0;
			walk->at += (size_t)extent;
			continue;
		}
		if (record.size < (size_t)walk->time_at + 8)
			return 0;
		*ret_time = load_u64(record.bytes + walk->time_at);
		walk->at += record.size;
		return record.size;
	}
	return 0;
}

/* Moves to the first sample from a time on. */
static void pass_over(const struct tally_source *source, struct window_run *open, uint64_t from)
{
	struct run_walk walk = walk_begin(source, open->place);
	uint64_t time;
	size_t before = 0;

	while (walk_next(&walk, &time) && time < from)
		before = walk.at;
	/* What stands behind the last sample that is younger is no sample before the next one. */
	if (before > walk.rest)
		before = walk.rest;
	open->place += ((uint64_t)(before / 8) << ORDER_SIZE_BITS) - before / 8;
}

/* What a window that ends at a time leaves for the next one. */
static void keep_open(struct time_windows *windows, uint64_t until)
{
	const struct tally_source *source = windows->source;
	size_t kept = 0;

	for (size_t i = 0; i < windows->open_count && until != UINT64_MAX; i++) {
		struct window_run open = windows->open[i];

		if (source->runs[open.number].last < until)
			continue;
		if (++open.windows > WINDOWS_PATIENT)
			pass_over(source, &open, until);
		windows->open[kept++] = open;
	}
	windows->open_count = kept;
	windows->from = until;
}

int tally_time_windows_next(struct time_windows *windows, struct time_window *ret)
{
	size_t old = windows->open_count;
	uint64_t until = UINT64_MAX;
	int result = open_some(windows, &until);

	if (result)
		return result;
	ret->count = windows->open_count;
	if (!ret->count)
		return 0;
	sort_open(windows, old);
	if (ret->count > ret->room) {
		if (!array_resize(&ret->runs, windows->open_room, sizeof(*ret->runs)))
			return -ENOMEM;
		ret->room = windows->open_room;
	}
	memcpy(ret->runs, windows->open, ret->count * sizeof(*ret->runs));
	ret->from = windows->from;
	ret->until = until;
	keep_open(windows, until);
	return 1;
}

/* --- a thread's window --- */

void tally_time_window_done(struct time_window *window)
{
	free(window->runs);
	free(window->spare[0]);
	free(window->spare[1]);
	free(window->bounds);
	*window = (struct time_window){0};
}

/* Room for all that the runs may have. */
static int span_room(struct time_window *window, const struct tally_source *source)
{
	size_t least = (size_t)source->run_time_at + 8, entries = 0;

	for (size_t i = 0; i < window->count; i++)
		entries += (window->runs[i].place & SIZE_MASK) * 8 / least + 1;
	if (entries > window->entry_room) {
		for (unsigned i = 0; i < 2; i++) {
			/* What is in them is not needed. */
			free(window->spare[i]);
			window->spare[i] =
			    malloc((entries + entries / 4) * sizeof(*window->spare[i]));
		}
		window->entry_room =
		    window->spare[0] && window->spare[1] ? entries + entries / 4 : 0;
		if (!window->entry_room)
			return -ENOMEM;
	}
	if (window->count + 1 > window->bound_room) {
		if (!array_resize(&window->bounds, window->room + 1, sizeof(*window->bounds)))
			return -ENOMEM;
		window->bound_room = window->room + 1;
	}
	return 0;
}

/* The samples of a run that are in the window, behind those of others: a run of their own unless
 * they are younger. */
static void collect(const struct tally_source *source, struct time_window *window, uint64_t place,
		    size_t *runs)
{
	struct run_walk walk = walk_begin(source, place);
	struct time_entry *entries = window->spare[0];
	size_t count = window->entry_count, first = count, size;
	uint64_t time;

	place &= ~(uint64_t)SIZE_MASK;
	while ((size = walk_next(&walk, &time)) && time < window->until) {
		entries[count] = (struct time_entry){
		    .time = time,
		    .place =
			place + ((uint64_t)((walk.at - size) / 8) << ORDER_SIZE_BITS) + size / 8,
		};
		count += time >= window->from;
	}
	if (count > first && (!first || entries[first].time < entries[first - 1].time))
		window->bounds[(*runs)++] = first;
	window->entry_count = count;
}

int tally_time_window_fill(const struct tally_source *source, struct time_window *window,
			   tally_window_token_fn tokens, void *context, struct order_batch *batch)
{
	const struct time_entry *entries;
	size_t runs = 0, from;
	int result = span_room(window, source);

	if (result)
		return result;
	window->entry_count = 0;
	for (size_t i = 0; i < window->count; i++) {
		if (i + 1 < window->count)
			__builtin_prefetch(order_bytes(source, window->runs[i + 1].place));
		from = window->entry_count;
		collect(source, window, window->runs[i].place, &runs);
		/* While they are in the nearest cache. */
		if (tokens && window->entry_count > from)
			tokens(context, window->spare[0] + from, window->entry_count - from);
	}
	window->bounds[runs] = window->entry_count;
	entries = tally_time_merge(window->spare, window->bounds, runs);
	if (window->entry_count > batch->room) {
		if (!array_resize(&batch->places, window->entry_room, sizeof(*batch->places)))
			return -ENOMEM;
		batch->room = window->entry_room;
	}
	for (size_t i = 0; i < window->entry_count; i++)
		batch->places[i] = entries[i].place;
	batch->count = window->entry_count;
	return 0;
}
