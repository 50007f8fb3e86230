/* Counts as JSON of our own: everything known about each value, above all how reliable it is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/option_struct.h"
#include "base/json.h"
#include "stat/stat_lines.h"

#define VERSION 2 /* of what is written; see tally-json(7) */

static void put_id(struct json *json, const char *key, int32_t id)
{
	if (id < 0)
		return;
	json_key(json, key);
	json_i64(json, id);
}

static void put_part(struct json *json, const struct tally_stat_place *part)
{
	put_id(json, "cpu", part->cpu);
	put_id(json, "socket", part->socket);
	put_id(json, "die", part->die);
	put_id(json, "cluster", part->cluster);
	put_id(json, "cache", part->cache);
	put_id(json, "core", part->core);
	put_id(json, "node", part->node);
	put_id(json, "tid", part->tid);
	if (part->comm)
		json_key_string(json, "comm", part->comm);
}

static void put_double(struct json *json, const char *key, double value)
{
	json_key(json, key);
	json_double(json, value);
}

static void put_derived(struct json *json, const struct tally_stat *stat, size_t event, size_t part)
{
	struct tally_stat_derived derived[TALLY_STAT_DERIVED_MOST] = {{.size = sizeof(*derived)}};
	size_t count = tally_stat_derive(stat, event, part, derived, TALLY_STAT_DERIVED_MOST);

	json_key(json, "derived");
	json_array(json);
	for (size_t i = 0; i < count; i++) {
		const char *percent = strchr(derived[i].suffix, '%');

		if (!derived[i].known && !derived[i].metric)
			continue;
		json_object(json);
		json_key_string(json, "name", derived[i].unit);
		json_key(json, "value");
		if (derived[i].known)
			json_double(json, derived[i].value);
		else
			json_null(json);
		if (percent || derived[i].of_unit)
			json_key_string(json, "unit", percent ? "%" : derived[i].of_unit);
		if (derived[i].metric)
			json_key_bool(json, "metric", true);
		if (derived[i].threshold >= 0)
			json_key_bool(json, "threshold", derived[i].threshold);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_count(struct json *json, const struct tally_stat *stat,
		      const struct stat_line *line)
{
	const struct tally_stat_value *value = &line->value;
	struct tally_stat_place part;
	size_t parts;

	part = tally_stat_parts(stat, &parts)[line->part];
	if (tally_stat_is_core_line(stat, line->event))
		part.cpu = -1;
	json_object(json);
	put_part(json, &part);
	json_key_string(json, "quality", tally_count_quality_name(value->quality));
	json_key(json, "value");
	if (tally_stat_counted(value))
		json_double(json, value->value);
	else
		json_null(json);
	if (tally_stat_runs(stat) > 1)
		put_double(json, "standard_error", value->spread);
	put_double(json, "time_enabled", value->enabled);
	put_double(json, "time_running", value->running);
	json_key_u64(json, "places", value->places);
	json_key_u64(json, "missing_places", value->missing);
	put_derived(json, stat, line->event, line->part);
	json_object_end(json);
}

static void put_event(struct json *json, const struct tally_stat *stat, size_t event,
		      const struct stat_line *lines, size_t count)
{
	const struct tally_stat_event *of = &tally_stat_options(stat)->events[event];
	bool any = false;

	for (size_t i = 0; i < count && !any; i++)
		any = lines[i].event == event;
	if (!any) /* it is printed with another event, or has no place */
		return;
	json_object(json);
	json_key_string(json, "event", of->name);
	if (*of->unit)
		json_key_string(json, "unit", of->unit);
	if (of->cgroup)
		json_key_string(json, "cgroup", of->cgroup);
	if (of->why && *of->why)
		json_key_string(json, "reason", of->why);
	json_key(json, "counts");
	json_array(json);
	for (size_t i = 0; i < count; i++)
		if (lines[i].event == event)
			put_count(json, stat, &lines[i]);
	json_array_end(json);
	json_object_end(json);
}

static void put_time(struct json *json, const char *key, double ns, double spread, bool repeated)
{
	json_key(json, key);
	json_object(json);
	put_double(json, "ns", ns);
	if (repeated)
		put_double(json, "standard_error", spread);
	json_object_end(json);
}

static void put_all(struct json *json, const struct tally_stat *stat,
		    const struct tally_stat_text_options *options, const struct stat_line *lines,
		    size_t count)
{
	static const char bys[][12] = {
	    [TALLY_STAT_GLOBAL] = "global",   [TALLY_STAT_CPU] = "cpu",
	    [TALLY_STAT_THREAD] = "thread",   [TALLY_STAT_CORE] = "core",
	    [TALLY_STAT_CLUSTER] = "cluster", [TALLY_STAT_CACHE] = "cache",
	    [TALLY_STAT_DIE] = "die",         [TALLY_STAT_SOCKET] = "socket",
	    [TALLY_STAT_NODE] = "node",
	};
	const struct tally_stat_options *of = tally_stat_options(stat);
	struct tally_stat_duration times = {.size = sizeof(times)};
	bool repeated = tally_stat_runs(stat) > 1 && !options->intervals;

	tally_stat_duration(stat, &times);
	json_object(json);
	json_key_u64(json, "version", VERSION);
	json_key_string(json, "target", options->title);
	json_key_string(json, "aggregation", bys[of->by]);
	if (options->intervals)
		json_key_u64(json, "interval_end_ns", options->time);
	else
		json_key_u64(json, "runs", tally_stat_runs(stat));
	put_time(json, "elapsed", times.elapsed, times.elapsed_spread, repeated);
	if (options->command_times && !options->intervals) {
		put_time(json, "user", times.user, times.user_spread, repeated);
		put_time(json, "system", times.system, times.system_spread, repeated);
	}
	json_key(json, "events");
	json_array(json);
	for (size_t i = 0; i < of->event_count; i++)
		put_event(json, stat, i, lines, count);
	json_array_end(json);
	json_object_end(json);
	tally_buf_byte(json->to, '\n');
}

int tally_stat_json(const struct tally_stat *stat, const struct tally_stat_text_options *options,
		    FILE *to)
{
	struct tally_stat_text_options use = {.size = sizeof(use)};
	struct tally_buf buf = {0};
	struct json json = {.to = &buf};
	struct stat_line *lines = NULL;
	size_t count = 0;
	int result = tally_options_take(&use, sizeof(use), options);

	if (!result)
		result = tally_stat_lines(stat, use.skip_zeros, &lines, &count);
	if (!result) {
		put_all(&json, stat, &use, lines, count);
		result = tally_stat_flush(&buf, to);
	}
	free(lines);
	tally_buf_done(&buf);
	return result;
}
