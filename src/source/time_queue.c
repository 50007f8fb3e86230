#include "source/time_queue.h"
#include "base/sorted.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

/* Entries merged at once: two buffers of them stay in a second cache. */
#define SLICE ((size_t)32 * 1024)
/* Fewer and larger ones where runs are short, as each slice looks at every run. */
#define RUN_LOOKS    4U
#define SLICES_LEAST 16U
/* Times looked at for each slice to choose where it ends. */
#define PROBES_PER_SLICE 32U
#define PROBES_MOST      ((size_t)1 << 16)

void tally_time_queue_done(struct time_queue *queue)
{
	free(queue->entries);
	free(queue->runs);
	free(queue->limits);
	free(queue->spare[0]);
	free(queue->spare[1]);
	free(queue->bounds);
	*queue = (struct time_queue){0};
}

int tally_time_queue_grow(struct time_queue *queue)
{
	return tally_array_double(&queue->entries, &queue->room, 4096, sizeof(*queue->entries))
		   ? 0
		   : -ENOMEM;
}

int tally_time_queue_new_run(struct time_queue *queue)
{
	if (!array_next(&queue->runs, &queue->run_room, queue->run_count, 64, sizeof(*queue->runs)))
		return -ENOMEM;
	queue->runs[queue->run_count++] = (struct time_run){queue->count, queue->count};
	return 0;
}

/* The end of what is not younger than `limit` in a run. */
static size_t run_until(const struct time_queue *queue, const struct time_run *run, uint64_t limit)
{
	size_t from = run->from, to = run->to;

	if (from == to || queue->entries[from].time > limit)
		return from;
	if (queue->entries[to - 1].time <= limit)
		return to;
	return SORTED_BOUND(at, from, to, queue->entries[at].time <= limit);
}

static int by_value(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static int add_limit(struct time_queue *queue, uint64_t limit)
{
	if (queue->limit_count && queue->limits[queue->limit_count - 1] >= limit)
		return 0;
	if (!array_next(&queue->limits, &queue->limit_room, queue->limit_count, 64,
			sizeof(*queue->limits)))
		return -ENOMEM;
	queue->limits[queue->limit_count++] = limit;
	return 0;
}

/* Where the slices end: times at even distances are taken from the runs for all of them. */
static int choose_limits(struct time_queue *queue, uint64_t limit, size_t total)
{
	size_t slices = total / SLICE + 1, most = total / queue->run_count * RUN_LOOKS;
	size_t wanted, step, count = 0, skipped = 0;
	uint64_t *probes;
	int result = 0;

	queue->limit_count = queue->limit_at = 0;
	if (slices < 2)
		return add_limit(queue, limit);
	most = most < SLICES_LEAST ? SLICES_LEAST : most;
	slices = slices < most ? slices : most;
	wanted = slices * PROBES_PER_SLICE;
	wanted = wanted < PROBES_MOST ? wanted : PROBES_MOST;
	step = total / wanted + 1;
	probes = calloc(wanted + 1, sizeof(*probes));
	if (!probes)
		return -ENOMEM;
	for (size_t i = 0; i < queue->run_count; i++) {
		const struct time_run *run = &queue->runs[i];
		size_t until = run_until(queue, run, limit), at = run->from + step - 1 - skipped;

		for (; at < until && count < wanted; at += step)
			probes[count++] = queue->entries[at].time;
		skipped = (skipped + until - run->from) % step;
	}
	qsort(probes, count, sizeof(*probes), by_value);
	for (size_t slice = 1; !result && slice < slices && count; slice++)
		result = add_limit(queue, probes[(count - 1) * slice / slices]);
	free(probes);
	return result ? result : add_limit(queue, limit);
}

int64_t tally_time_queue_release(struct time_queue *queue, uint64_t limit)
{
	size_t total = 0;
	int result;

	for (size_t i = 0; i < queue->run_count; i++)
		total += run_until(queue, &queue->runs[i], limit) - queue->runs[i].from;
	if (!total)
		return 0;
	result = choose_limits(queue, limit, total);
	return result ? result : (int64_t)total;
}

/* Merges two neighbouring runs. The older run's entries come first among equals. */
static void merge(const struct time_entry *left, const struct time_entry *middle,
		  const struct time_entry *end, struct time_entry *to)
{
	const struct time_entry *right = middle;

	/* One after the other, as flushes of one ring are. */
	if (middle[-1].time <= middle->time) {
		memcpy(to, left, (size_t)(end - left) * sizeof(*to));
		return;
	}
	/* Which one is smaller is as good as chance: no branch on it. */
	while (left < middle && right < end) {
		bool take = right->time < left->time;
		const struct time_entry *from = take ? right : left;

		*to++ = *from;
		right += take;
		left += !take;
	}
	if (left < middle)
		memcpy(to, left, (size_t)(middle - left) * sizeof(*to));
	else
		memcpy(to, right, (size_t)(end - right) * sizeof(*to));
}

/* Neighbours pairwise, until one is left. */
const struct time_entry *tally_time_merge(struct time_entry *const spare[2], size_t *bounds,
					  size_t runs)
{
	struct time_entry *from = spare[0], *to = spare[1];

	while (runs > 1) {
		struct time_entry *swap = from;
		size_t made = 0, run = 0;

		for (; run + 1 < runs; run += 2) {
			merge(from + bounds[run], from + bounds[run + 1], from + bounds[run + 2],
			      to + bounds[run]);
			bounds[made++] = bounds[run];
		}
		if (run < runs) {
			memcpy(to + bounds[run], from + bounds[run],
			       (bounds[run + 1] - bounds[run]) * sizeof(*to));
			bounds[made++] = bounds[run];
		}
		bounds[made] = bounds[runs];
		runs = made;
		from = to;
		to = swap;
	}
	return from;
}

static int slice_room(struct time_queue *queue, size_t entries, size_t runs)
{
	if (entries > queue->spare_room) {
		size_t room = entries < SLICE ? SLICE : entries + entries / 4;

		for (unsigned i = 0; i < 2; i++) {
			/* What is in them is not needed. */
			free(queue->spare[i]);
			queue->spare[i] = calloc(room, sizeof(*queue->spare[i]));
		}
		queue->spare_room = queue->spare[0] && queue->spare[1] ? room : 0;
		if (!queue->spare_room)
			return -ENOMEM;
	}
	if (runs + 1 > queue->bound_room) {
		void *bounds = reallocarray(queue->bounds, runs * 2 + 2, sizeof(*queue->bounds));

		if (!bounds)
			return -ENOMEM;
		queue->bounds = bounds;
		queue->bound_room = runs * 2 + 2;
	}
	return 0;
}

/* The next slice: the runs' heads until its limit, merged. */
static int next_slice(struct time_queue *queue)
{
	uint64_t limit = queue->limits[queue->limit_at++];
	size_t total = 0, runs = 0, only = 0, filled = 0;
	int result;

	for (size_t i = 0; i < queue->run_count; i++) {
		const struct time_run *run = &queue->runs[i];
		size_t count = run_until(queue, run, limit) - run->from;

		if (count) {
			only = i;
			runs++;
			total += count;
		}
	}
	queue->slice_at = 0;
	queue->slice_count = total;
	queue->waiting -= total;
	if (runs <= 1) {
		if (runs) {
			queue->slice = queue->entries + queue->runs[only].from;
			queue->runs[only].from += total;
		}
		return 0;
	}
	result = slice_room(queue, total, runs);
	if (result)
		return result;
	runs = 0;
	for (size_t i = 0; i < queue->run_count; i++) {
		struct time_run *run = &queue->runs[i];
		size_t until = run_until(queue, run, limit);

		if (until == run->from)
			continue;
		queue->bounds[runs++] = filled;
		memcpy(queue->spare[0] + filled, queue->entries + run->from,
		       (until - run->from) * sizeof(*queue->entries));
		filled += until - run->from;
		run->from = until;
	}
	queue->bounds[runs] = filled;
	queue->slice = tally_time_merge(queue->spare, queue->bounds, runs);
	return 0;
}

/* What was taken makes room for what comes. */
static void close_ranks(struct time_queue *queue)
{
	size_t count = 0, kept = 0;
	bool open = false;

	for (size_t i = 0; i < queue->run_count; i++) {
		struct time_run run = queue->runs[i];

		if (run.from == run.to)
			continue;
		memmove(queue->entries + count, queue->entries + run.from,
			(run.to - run.from) * sizeof(*queue->entries));
		queue->runs[kept++] = (struct time_run){count, count + run.to - run.from};
		count += run.to - run.from;
		open = i + 1 == queue->run_count;
	}
	/* The last run goes on only when some of it is left. */
	if (kept && !open)
		queue->last = UINT64_MAX;
	queue->run_count = kept;
	queue->count = count;
}

int64_t tally_time_queue_next(struct time_queue *queue, const struct time_entry **ret)
{
	while (queue->slice_at == queue->slice_count) {
		int result;

		if (queue->limit_at == queue->limit_count) {
			if (queue->limit_count)
				close_ranks(queue);
			queue->limit_count = queue->limit_at = 0;
			return 0;
		}
		result = next_slice(queue);
		if (result)
			return result;
	}
	*ret = queue->slice + queue->slice_at;
	return (int64_t)(queue->slice_count - queue->slice_at);
}
