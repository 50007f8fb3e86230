/* Counts as perf 6.1's `stat -j` writes them: an object on each line, with spaces around the
 * colons, and counter-value as a string.  A count without a derived value has one of 0 with the
 * unit "(null)".  Source: perf-stat(1), JSON FORMAT, and what perf 6.1 prints.  Where perf's text
 * is not valid JSON (several derived values on a line, metrics only), ours is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/option_struct.h"
#include "base/json.h"
#include "stat/stat_lines.h"

struct lines {
	const struct tally_stat *stat;
	const struct tally_stat_options *of;
	struct tally_stat_text_options options;
	struct tally_buf *to;
};

static void put_string(const struct lines *lines, const char *key, const char *text)
{
	struct json json = {.to = lines->to};

	tally_buf_printf(lines->to, "\"%s\" : ", key);
	tally_json_string(&json, text, strlen(text));
	tally_buf_text(lines->to, ", ");
}

static void put_interval(const struct lines *lines)
{
	tally_buf_printf(lines->to, "\"interval\" : %llu.%09llu",
			 (unsigned long long)(lines->options.time / 1000000000),
			 (unsigned long long)(lines->options.time % 1000000000));
}

static void begin(const struct lines *lines, const struct stat_line *line)
{
	static const char *const keys[] = {
	    [TALLY_STAT_CPU] = "cpu",       [TALLY_STAT_THREAD] = "thread",
	    [TALLY_STAT_CORE] = "core",     [TALLY_STAT_CLUSTER] = "cluster",
	    [TALLY_STAT_CACHE] = "cache",   [TALLY_STAT_DIE] = "die",
	    [TALLY_STAT_SOCKET] = "socket", [TALLY_STAT_NODE] = "node",
	};
	bool core = tally_stat_is_core_line(lines->stat, line->event);
	struct tally_buf name = {0};

	tally_buf_byte(lines->to, '{');
	if (lines->options.intervals) {
		put_interval(lines);
		tally_buf_text(lines->to, ", ");
	}
	if (lines->of->by == TALLY_STAT_GLOBAL)
		return;
	tally_stat_line_name(lines->stat, line->event, line->part, &name);
	/* A CPU is only its number. */
	put_string(lines, core ? "core" : keys[lines->of->by],
		   tally_buf_str(&name) + (lines->of->by == TALLY_STAT_CPU && !core ? 3 : 0));
	if (name.failed)
		lines->to->failed = name.failed;
	tally_buf_done(&name);
	if (tally_stat_counts_places(lines->of->by))
		tally_buf_printf(lines->to, "\"aggregate-number\" : %u, ", line->value.places);
}

/* The members that end an object. */
static void put_derived(const struct lines *lines, double value, const char *of_unit,
			const char *unit)
{
	struct tally_buf text = {0};
	struct json json = {.to = lines->to};

	if (of_unit)
		tally_buf_printf(&text, "%s  ", of_unit);
	tally_buf_text(&text, unit);
	tally_buf_printf(lines->to,
			 "\"metric-value\" : %f, \"metric-unit\" : ", isfinite(value) ? value : 0);
	tally_json_string(&json, tally_buf_str(&text), text.size);
	tally_buf_text(lines->to, "}\n");
	tally_buf_done(&text);
}

static void put_count(const struct lines *lines, const struct stat_line *line, bool cgroups)
{
	const struct tally_stat_event *event = &lines->of->events[line->event];
	const struct tally_stat_value *value = &line->value;
	bool counted = tally_stat_counted(value);

	begin(lines, line);
	if (counted)
		tally_buf_printf(lines->to, "\"counter-value\" : \"%f\", ", value->value);
	else
		put_string(lines, "counter-value", tally_stat_uncounted(value->quality));
	put_string(lines, "unit", event->unit);
	put_string(lines, "event", event->name);
	if (cgroups)
		put_string(lines, "cgroup", event->cgroup ? event->cgroup : "");
	if (lines->options.repeated)
		tally_buf_printf(lines->to, "\"variance\" : %.2f, ",
				 value->value != 0 ? 100 * value->spread / value->value : 0);
	tally_buf_printf(lines->to, "\"event-runtime\" : %.0f, \"pcnt-running\" : %.2f, ",
			 counted ? value->running : 0, counted ? tally_stat_running(value) : 100.0);
}

static void put_line(const struct lines *lines, const struct stat_line *line, bool cgroups)
{
	struct tally_stat_derived derived[TALLY_STAT_DERIVED_MOST] = {{.size = sizeof(*derived)}};
	size_t count = 0;

	put_count(lines, line, cgroups);
	if (!tally_stat_counted(&line->value)) {
		put_derived(lines, 0, NULL, "");
		return;
	}
	count = tally_stat_derive(lines->stat, line->event, line->part, derived,
				  TALLY_STAT_DERIVED_MOST);
	if (!count)
		put_derived(lines, 0, NULL, "(null)");
	for (size_t i = 0; i < count; i++) {
		if (i)
			begin(lines, line);
		put_derived(lines, derived[i].known ? derived[i].value : 0, derived[i].of_unit,
			    derived[i].unit);
	}
}

/* Whether there were any. */
static bool put_metrics(const struct lines *lines, const struct stat_line *line)
{
	struct tally_stat_derived derived[TALLY_STAT_DERIVED_MOST] = {{.size = sizeof(*derived)}};
	size_t count = tally_stat_derive(lines->stat, line->event, line->part, derived,
					 TALLY_STAT_DERIVED_MOST);
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		struct tally_buf name = {0};

		if (!tally_stat_is_metric(&derived[i]) || !derived[i].known)
			continue;
		tally_stat_metric_name(&lines->of->events[line->event], &derived[i], &name);
		begin(lines, line);
		put_derived(lines, derived[i].value, NULL, tally_buf_str(&name));
		tally_buf_done(&name);
		any = true;
	}
	return any;
}

/* perf's line when no metric has a value. */
static void put_nothing(const struct lines *lines)
{
	tally_buf_byte(lines->to, '{');
	if (lines->options.intervals)
		put_interval(lines);
	tally_buf_text(lines->to, "}\n");
}

int tally_stat_perf_json(const struct tally_stat *stat,
			 const struct tally_stat_text_options *options, FILE *to)
{
	struct tally_buf buf = {0};
	struct lines lines = {.stat = stat, .of = tally_stat_options(stat), .to = &buf};
	struct stat_line *list = NULL;
	size_t count = 0;
	bool cgroups = false, any = false;
	int result = tally_options_take(&lines.options, sizeof(lines.options), options);

	if (!result)
		result = tally_stat_lines(stat, lines.options.skip_zeros, &list, &count);
	for (size_t i = 0; i < lines.of->event_count; i++)
		cgroups |= lines.of->events[i].cgroup != NULL;
	for (size_t i = 0; i < count; i++) {
		if (lines.options.metric_only)
			any |= put_metrics(&lines, &list[i]);
		else
			put_line(&lines, &list[i], cgroups);
	}
	if (!result && lines.options.metric_only && !any)
		put_nothing(&lines);
	if (!result)
		result = tally_stat_flush(&buf, to);
	free(list);
	tally_buf_done(&buf);
	return result;
}
