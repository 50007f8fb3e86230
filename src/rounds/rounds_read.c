/* Recordings of counts, round by round. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/abi.h>
#include <tally/stat_rounds.h>
#include "base/fail.h"
#include "file/data_file.h"
#include "rounds/rounds_numbers.h"
#include "rounds/rounds_places.h"

#define COUNTS_MOST 4000000 /* of all events together */
#define UNIT_MOST   64

struct tally_stat_rounds {
	struct tally_data *data;
	struct rounds_places places;
	struct tally_stat_event *events;
	char **units;
	struct tally_count *counts; /* NULL: before the first count */
	struct tally_stat_options options;
};

bool tally_stat_rounds_known(struct tally_data *data)
{
	struct tally_record record;
	bool known = false;

	/* The configuration is before all records of the kernel. */
	while (!known && tally_data_next_record(data, &record, NULL) > 0) {
		if (record.type < PERF_RECORD_HEADER_ATTR)
			break;
		known = record.type == PERF_RECORD_STAT_CONFIG;
	}
	tally_data_rewind(data);
	return known;
}

int tally_stat_rounds_new(struct tally_data *data, struct tally_stat_rounds **ret,
			  struct tally_error *error)
{
	size_t count = tally_data_event_count(data);
	struct tally_stat_rounds *rounds = calloc(1, sizeof(*rounds));

	if (rounds) {
		rounds->data = data;
		rounds->events = calloc(count + 1, sizeof(*rounds->events));
		rounds->units = calloc(count + 1, sizeof(*rounds->units));
	}
	if (!rounds || !rounds->events || !rounds->units) {
		tally_stat_rounds_free(rounds);
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	}
	for (size_t i = 0; i < count; i++) {
		const struct tally_data_event *event = tally_data_event(data, i);

		rounds->events[i] = (struct tally_stat_event){
		    .attr = event->attr,
		    .name = event->name,
		    .unit = event->unit,
		    .scale = event->scale,
		};
	}
	rounds->options = (struct tally_stat_options){
	    .size = sizeof(rounds->options),
	    .events = rounds->events,
	    .event_count = count,
	    .merge = true,
	};
	*ret = rounds;
	return 0;
}

void tally_stat_rounds_free(struct tally_stat_rounds *rounds)
{
	if (!rounds)
		return;
	for (size_t i = 0; rounds->units && i < rounds->options.event_count; i++)
		free(rounds->units[i]);
	free(rounds->units);
	free(rounds->events);
	tally_rounds_places_done(&rounds->places);
	free(rounds->counts);
	free(rounds);
}

const struct tally_stat_options *tally_stat_rounds_options(const struct tally_stat_rounds *rounds)
{
	return &rounds->options;
}

/* --- what was counted --- */

static void take_update(struct tally_stat_rounds *rounds,
			const struct tally_record_event_update *update)
{
	int event = tally_data_find_event(rounds->data, update->id);
	size_t length = strnlen((const char *)update->data, update->data_size);
	double scale;

	if (event < 0 || rounds->counts)
		return;
	if (update->type == ROUNDS_UNIT && length < UNIT_MOST) {
		free(rounds->units[event]);
		rounds->units[event] = strndup((const char *)update->data, length);
		rounds->events[event].unit = rounds->units[event];
	} else if (update->type == ROUNDS_UNIT_SCALE && update->data_size >= sizeof(scale)) {
		memcpy(&scale, update->data, sizeof(scale));
		if (scale > 0 && scale < 1e18)
			rounds->events[event].scale = scale;
	}
}

static void take_config(struct tally_stat_rounds *rounds,
			const struct tally_record_stat_config *config)
{
	for (size_t i = 0; i < config->nr && !rounds->counts; i++) {
		const struct tally_stat_config_entry *entry = &config->entries[i];

		if (entry->tag == ROUNDS_SCALE)
			rounds->options.unscaled = !entry->value;
		else if (entry->tag == ROUNDS_BY)
			(void)tally_rounds_by(entry->value, &rounds->options.by);
	}
}

/* Once, when the first counts come. */
static int make_counts(struct tally_stat_rounds *rounds, struct tally_error *error)
{
	size_t events = rounds->options.event_count, places;
	int result;

	if (rounds->counts)
		return 0;
	result = tally_rounds_make_places(&rounds->places, tally_data_info(rounds->data),
					  COUNTS_MOST / (events + 1));
	if (result && result != -ENOMEM)
		return tally_fail(
		    error, result, -1,
		    "%s does not describe threads and CPUs: is it from `stat record`?",
		    rounds->data->path);
	places = rounds->places.thread_count * rounds->places.cpu_count;
	if (!result)
		rounds->counts = calloc(places * events + 1, sizeof(*rounds->counts));
	if (!rounds->counts)
		return tally_fail(error, -ENOMEM, -1, "%s: out of memory", rounds->data->path);
	rounds->options.places = rounds->places.places;
	rounds->options.place_count = places;
	return 0;
}

/* --- counts --- */

static void take_count(struct tally_stat_rounds *rounds, const struct tally_record_stat *from)
{
	int event = tally_data_find_event(rounds->data, from->id);
	size_t place = tally_rounds_find_place(&rounds->places, from->thread, (int32_t)from->cpu);

	if (event < 0 || place == SIZE_MAX)
		return;
	rounds->counts[(size_t)event * rounds->options.place_count + place] = (struct tally_count){
	    .raw = from->value,
	    .time_enabled = from->enabled,
	    .time_running = from->running,
	    .places = 1,
	    .quality = !from->enabled                  ? TALLY_COUNT_IDLE
		       : !from->running                ? TALLY_COUNT_NEVER_RAN
		       : from->running < from->enabled ? TALLY_COUNT_SCALED
						       : TALLY_COUNT_COUNTED,
	};
}

/* Events without any count could not be counted. */
static void mark_missing(struct tally_stat_rounds *rounds)
{
	size_t places = rounds->options.place_count;

	for (size_t i = 0; i < rounds->options.event_count; i++) {
		bool any = false;

		for (size_t j = 0; j < places; j++)
			any |= rounds->counts[i * places + j].quality != TALLY_COUNT_ELSEWHERE;
		for (size_t j = 0; j < places && !any; j++)
			rounds->counts[i * places + j] = (struct tally_count){
			    .missing = 1, .quality = TALLY_COUNT_NOT_SUPPORTED};
	}
}

/* 1: a round has ended; 0; -errno. */
static int take_record(struct tally_stat_rounds *rounds, const struct tally_record *record,
		       struct tally_stat_round *ret, struct tally_error *error)
{
	static const struct tally_layout none;
	struct tally_body body = {.size = sizeof(body)};
	int result = 0;

	if (record->type < PERF_RECORD_THREAD_MAP || record->type > PERF_RECORD_EVENT_UPDATE ||
	    tally_record_decode(&none, record, &body, NULL))
		return 0;
	if (record->type == PERF_RECORD_STAT || record->type == PERF_RECORD_STAT_ROUND)
		result = make_counts(rounds, error);
	if (result)
		return result;
	switch (record->type) {
	case PERF_RECORD_EVENT_UPDATE:
		take_update(rounds, &body.event_update);
		return 0;
	case PERF_RECORD_THREAD_MAP:
		result = tally_rounds_take_threads(&rounds->places, &body.thread_map);
		break;
	case PERF_RECORD_CPU_MAP:
		result = tally_rounds_take_cpus(&rounds->places, &body.cpu_map);
		break;
	case PERF_RECORD_STAT_CONFIG:
		take_config(rounds, &body.stat_config);
		return 0;
	case PERF_RECORD_STAT:
		take_count(rounds, &body.stat);
		return 0;
	case PERF_RECORD_STAT_ROUND:
		mark_missing(rounds);
		ret->time = body.stat_round.time;
		ret->last = body.stat_round.type != 0;
		ret->counts = rounds->counts;
		return 1;
	default:
		return 0;
	}
	return result ? tally_fail(error, result, -1, "%s: out of memory", rounds->data->path) : 0;
}

int tally_stat_rounds_next(struct tally_stat_rounds *rounds, struct tally_stat_round *ret,
			   struct tally_error *error)
{
	struct tally_record record;
	int result = 0, got = 0;

	if (ret->size != sizeof(*ret))
		return tally_fail(error, -EINVAL, -1, "the size of the result is not set");
	while (!result && (got = tally_data_next_record(rounds->data, &record, error)) > 0)
		result = take_record(rounds, &record, ret, error);
	return result ? result : got;
}
