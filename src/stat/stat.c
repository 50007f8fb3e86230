/* Readings to values of parts: differences, scaling, sums over places, means over runs.
 *
 * Each place's count is scaled for the time it ran on its own before it is added, so that a CPU
 * that had to share its counters more does not weigh less. */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "stat/stat.h"

static const struct tally_stat_place nowhere = {-1, -1, -1, -1, -1, -1, -1, -1, NULL};

/* The part that a place belongs to. */
static struct tally_stat_place part_of(const struct tally_stat_place *place, enum tally_stat_by by)
{
	struct tally_stat_place part = nowhere;

	switch (by) {
	case TALLY_STAT_GLOBAL:
		break;
	case TALLY_STAT_CPU:
		part = *place;
		part.tid = -1;
		part.comm = NULL;
		break;
	case TALLY_STAT_THREAD:
		part.tid = place->tid;
		part.comm = place->comm;
		break;
	case TALLY_STAT_NODE:
		part.node = place->node;
		break;
	case TALLY_STAT_CORE:
	case TALLY_STAT_CLUSTER:
	case TALLY_STAT_CACHE:
	case TALLY_STAT_DIE:
		part.die = place->die;
		if (by == TALLY_STAT_CORE)
			part.core = place->core;
		if (by == TALLY_STAT_CLUSTER)
			part.cluster = place->cluster;
		if (by == TALLY_STAT_CACHE)
			part.cache = place->cache;
		part.socket = place->socket;
		break;
	case TALLY_STAT_SOCKET:
		part.socket = place->socket;
		break;
	}
	return part;
}

static int order(const void *a, const void *b)
{
	const struct tally_stat_place *left = a, *right = b;
	const int32_t lefts[] = {left->node,  left->socket, left->die, left->cluster,
				 left->cache, left->core,   left->cpu, left->tid};
	const int32_t rights[] = {right->node,  right->socket, right->die, right->cluster,
				  right->cache, right->core,   right->cpu, right->tid};

	for (size_t i = 0; i < sizeof(lefts) / sizeof(*lefts); i++)
		if (lefts[i] != rights[i])
			return lefts[i] < rights[i] ? -1 : 1;
	return 0;
}

/* CPUs are in the order of their numbers, whatever part of the machine they are in. */
static int order_cpus(const void *a, const void *b)
{
	const struct tally_stat_place *left = a, *right = b;

	return (left->cpu > right->cpu) - (left->cpu < right->cpu);
}

static int make_parts(struct tally_stat *stat)
{
	const struct tally_stat_options *options = &stat->options;
	int (*by)(const void *, const void *) = options->by == TALLY_STAT_CPU ? order_cpus : order;
	size_t count = options->place_count, kept = 0;

	stat->parts = calloc(count + 1, sizeof(*stat->parts));
	stat->part_of = calloc(count + 1, sizeof(*stat->part_of));
	stat->twin_of = calloc(count + 1, sizeof(*stat->twin_of));
	if (!stat->parts || !stat->part_of || !stat->twin_of)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		stat->parts[i] = part_of(&options->places[i], options->by);
	qsort(stat->parts, count, sizeof(*stat->parts), by);
	for (size_t i = 0; i < count; i++)
		if (!i || by(&stat->parts[i], &stat->parts[kept - 1]))
			stat->parts[kept++] = stat->parts[i];
	stat->part_count = kept;
	for (size_t i = 0; i < count; i++) {
		struct tally_stat_place key = part_of(&options->places[i], options->by);
		const struct tally_stat_place *found =
		    bsearch(&key, stat->parts, kept, sizeof(key), by);

		stat->part_of[i] = (uint32_t)(found - stat->parts);
	}
	return 0;
}

/* Of each place the first one of its die: what counts for a whole package is taken once. */
static void find_twins(struct tally_stat *stat)
{
	const struct tally_stat_place *places = stat->options.places;

	for (size_t i = 0; i < stat->options.place_count; i++) {
		size_t j = 0;

		while (j < i && (places[j].socket != places[i].socket ||
				 places[j].die != places[i].die || stat->twin_of[j] != j))
			j++;
		stat->twin_of[i] = (uint32_t)(places[i].socket < 0 ? i : j);
	}
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* An event that was asked of several PMUs, as uncore_imc/.../ is of uncore_imc_0 and _1. */
static uint32_t find_first(const struct tally_stat *stat, size_t event)
{
	const struct tally_stat_event *second = &stat->events[event];

	for (size_t i = 0; i < event && stat->options.merge && second->pmu && second->name; i++) {
		const struct tally_stat_event *first = &stat->events[i];

		if (stat->into[i] == i && first->pmu && strcmp(first->pmu, second->pmu) != 0 &&
		    same_text(first->name, second->name) && same_text(first->unit, second->unit) &&
		    same_text(first->cgroup, second->cgroup) && first->scale >= second->scale &&
		    first->scale <= second->scale)
			return (uint32_t)i;
	}
	return (uint32_t)event;
}

static bool is_clock(const struct tally_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

static void complete(struct tally_stat_event *event)
{
	bool has_unit = event->unit && *event->unit;

	if (event->tool) {
		event->unit = "ns";
	} else if (!has_unit && is_clock(&event->attr)) {
		event->unit = "msec";
		event->scale = 1e-6; /* the kernel counts ns */
	} else if (!has_unit) {
		event->unit = "";
	}
	if (event->scale == 0)
		event->scale = 1;
}

int tally_stat_new(const struct tally_stat_options *options, struct tally_stat **ret,
		   struct tally_error *error)
{
	struct tally_stat *stat = calloc(1, sizeof(*stat));
	size_t events, places;
	bool per_pkg = false;
	int result;

	if (!stat)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	result = tally_options_take(&stat->options, sizeof(stat->options), options);
	if (!result && !stat->options.place_count)
		result = -EINVAL;
	if (result) {
		free(stat);
		return tally_fail(error, result, -1, "these counts cannot be added: %s",
				  result == -EINVAL ? "they are of no place"
						    : "an option is newer than this library");
	}
	events = stat->options.event_count;
	places = stat->options.place_count;
	stat->events = calloc(events + 1, sizeof(*stat->events));
	stat->kinds = calloc(events + 1, sizeof(*stat->kinds));
	stat->into = calloc(events + 1, sizeof(*stat->into));
	stat->values = calloc(events + 1, sizeof(*stat->values));
	stat->before = calloc(events * places + 1, sizeof(*stat->before));
	if (!stat->events || !stat->kinds || !stat->into || !stat->values || !stat->before)
		result = -ENOMEM;
	else
		result = make_parts(stat);
	if (!result)
		stat->cells = calloc(events * stat->part_count + 1, sizeof(*stat->cells));
	if (result || !stat->cells) {
		tally_stat_free(stat);
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	}
	for (size_t i = 0; i < events; i++) {
		stat->events[i] = stat->options.events[i];
		stat->events[i].percore &= stat->options.by == TALLY_STAT_CPU;
		complete(&stat->events[i]);
		stat->kinds[i] = (uint8_t)tally_stat_kind(&stat->events[i]);
		stat->into[i] = find_first(stat, i);
		per_pkg |= stat->events[i].per_pkg;
	}
	stat->options.events = stat->events;
	if (per_pkg)
		find_twins(stat);
	*ret = stat;
	return 0;
}

void tally_stat_free(struct tally_stat *stat)
{
	if (!stat)
		return;
	free(stat->events);
	free(stat->kinds);
	free(stat->into);
	free(stat->parts);
	free(stat->part_of);
	free(stat->twin_of);
	free(stat->cells);
	free(stat->before);
	free(stat->values);
	free(stat);
}

const struct tally_stat_options *tally_stat_options(const struct tally_stat *stat)
{
	return &stat->options;
}

const struct tally_stat_place *tally_stat_parts(const struct tally_stat *stat, size_t *ret_count)
{
	*ret_count = stat->part_count;
	return stat->parts;
}

size_t tally_stat_runs(const struct tally_stat *stat)
{
	return stat->runs;
}

/* --- readings --- */

void tally_stat_begin(struct tally_stat *stat)
{
	memset(stat->before, 0,
	       stat->options.event_count * stat->options.place_count * sizeof(*stat->before));
}

/* By CPU, an event that counts cores: its place is the first CPU of its core, or all of them. */
static bool of_core(const struct tally_stat *stat, size_t place, size_t part)
{
	const struct tally_stat_place *of = &stat->options.places[place], *to = &stat->parts[part];

	return of->cpu == to->cpu || (of->core >= 0 && of->core == to->core && of->die == to->die &&
				      of->socket == to->socket);
}

/* One place's count. */
static void add_place(struct stat_cell *cell, const struct tally_count *count, bool unscaled)
{
	uint64_t estimate;

	if (tally_count_estimate(count, &estimate) >= TALLY_COUNT_PARTIAL)
		cell->value += (double)(unscaled ? count->raw : estimate);
	tally_count_add(&cell->sum, count);
}

static void take_event(struct tally_stat *stat, size_t index, const struct tally_count *counts,
		       const struct tally_count *before)
{
	const struct tally_stat_event *event = &stat->events[index];
	bool once = event->per_pkg && stat->options.by != TALLY_STAT_CPU &&
		    stat->options.by != TALLY_STAT_CORE;

	for (size_t place = 0; place < stat->options.place_count; place++) {
		struct tally_count count = tally_count_since(&counts[place], &before[place]);

		if (counts[place].quality == TALLY_COUNT_ELSEWHERE)
			continue;
		if (once && stat->twin_of[place] != place &&
		    counts[stat->twin_of[place]].time_running)
			continue;
		if (event->snapshot)
			count.raw = counts[place].raw;
		if (!event->percore) {
			add_place(stat_cell(stat, stat->into[index], stat->part_of[place]), &count,
				  stat->options.unscaled);
			continue;
		}
		for (size_t part = 0, added = 0; part < stat->part_count; part++)
			if (of_core(stat, place, part) && (!added++ || stat->options.percore_each))
				add_place(stat_cell(stat, stat->into[index], part), &count,
					  stat->options.unscaled);
	}
}

static void take(struct tally_stat *stat, const struct tally_count *counts,
		 const struct tally_count *before, const struct tally_stat_times *times)
{
	size_t events = stat->options.event_count, places = stat->options.place_count;

	stat->last = *times;
	for (size_t i = 0; i < events * stat->part_count; i++) {
		stat->cells[i].sum = (struct tally_count){.quality = TALLY_COUNT_ELSEWHERE};
		stat->cells[i].value = 0;
	}
	for (size_t i = 0; i < events; i++)
		take_event(stat, i, counts + i * places, before + i * places);
}

void tally_stat_interval(struct tally_stat *stat, const struct tally_count *counts,
			 const struct tally_stat_times *times)
{
	take(stat, counts, stat->before, times);
	memcpy(stat->before, counts,
	       stat->options.event_count * stat->options.place_count * sizeof(*counts));
	stat->whole = false;
}

/* Welford's way: exact enough for any number of runs, without keeping them. */
static void add_run(double value, size_t runs, double *mean, double *squares)
{
	double delta = value - *mean;

	*mean += delta / (double)runs;
	*squares += delta * (value - *mean);
}

/* Where it never was enabled nothing was counted: 0 would say too much. */
static bool has_number(enum tally_count_quality quality)
{
	return tally_stat_counted(&(struct tally_stat_value){.quality = quality});
}

static void end_run(struct stat_cell *cell)
{
	double squares = 0;

	if (!has_number(cell->sum.quality)) {
		if (!cell->runs)
			cell->runs_quality = cell->sum.quality;
		return;
	}
	/* The least of them is what all together are worth. */
	if (!cell->runs || cell->sum.quality < cell->runs_quality)
		cell->runs_quality = cell->sum.quality;
	cell->runs++;
	add_run(cell->value, cell->runs, &cell->mean, &cell->squares);
	add_run((double)cell->sum.time_enabled, cell->runs, &cell->enabled_mean, &squares);
	add_run((double)cell->sum.time_running, cell->runs, &cell->running_mean, &squares);
}

void tally_stat_finish(struct tally_stat *stat, const struct tally_count *counts,
		       const struct tally_stat_times *times)
{
	tally_stat_begin(stat);
	take(stat, counts, stat->before, times);
	stat->runs++;
	for (size_t i = 0; i < stat->options.event_count * stat->part_count; i++)
		end_run(&stat->cells[i]);
	add_run((double)times->elapsed, stat->runs, &stat->elapsed.mean, &stat->elapsed.squares);
	add_run((double)times->user, stat->runs, &stat->user.mean, &stat->user.squares);
	add_run((double)times->system, stat->runs, &stat->system.mean, &stat->system.squares);
	stat->whole = true;
}

/* --- what came out --- */

/* Standard error of the mean. */
static double spread(double squares, size_t runs)
{
	return runs < 2 ? 0 : sqrt(squares / (double)(runs - 1) / (double)runs);
}

bool tally_stat_value(const struct tally_stat *stat, size_t event, size_t part,
		      struct tally_stat_value *ret)
{
	const struct stat_cell *cell = stat_cell(stat, event, part);
	double scale = stat->events[event].scale;
	struct tally_stat_value own;

	if (!cell->sum.places && !cell->sum.missing)
		return false;
	own = (struct tally_stat_value){
	    .value = cell->value * scale,
	    .enabled = (double)cell->sum.time_enabled,
	    .running = (double)cell->sum.time_running,
	    .quality = cell->sum.quality,
	    .places = cell->sum.places + cell->sum.missing,
	    .missing = cell->sum.places ? cell->sum.missing : 0,
	};
	if (stat->whole) {
		own.quality = cell->runs_quality;
		own.value = cell->mean * scale;
		own.runs = cell->runs;
		own.spread = spread(cell->squares, cell->runs) * fabs(scale);
		if (cell->runs) {
			own.enabled = cell->enabled_mean;
			own.running = cell->running_mean;
		}
	}
	return !tally_result_copy(ret, sizeof(own), &own);
}

int tally_stat_duration(const struct tally_stat *stat, struct tally_stat_duration *ret)
{
	struct tally_stat_duration own = {
	    .elapsed = (double)stat->last.elapsed,
	    .user = (double)stat->last.user,
	    .system = (double)stat->last.system,
	};

	if (stat->whole)
		own = (struct tally_stat_duration){
		    .elapsed = stat->elapsed.mean,
		    .user = stat->user.mean,
		    .system = stat->system.mean,
		    .elapsed_spread = spread(stat->elapsed.squares, stat->runs),
		    .user_spread = spread(stat->user.squares, stat->runs),
		    .system_spread = spread(stat->system.squares, stat->runs),
		};
	return tally_result_copy(ret, sizeof(own), &own);
}
