/* Counts as perf 6.1's `stat -x` writes them: value, unit, event, [cgroup], [spread %], time that
 * it ran in ns, % of the time enabled, derived value, its unit.  Before them come the fields of
 * intervals and parts; further derived values have lines of their own.  Source: perf-stat(1), CSV
 * FORMAT, and what perf 6.1 prints. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/option_struct.h"
#include "base/text.h"
#include "stat/stat_lines.h"

struct csv {
	const struct tally_stat *stat;
	const struct tally_stat_options *of;
	struct tally_stat_text_options options;
	const char *separator;
	struct tally_buf *to;
};

static void separate(const struct csv *csv)
{
	tally_buf_text(csv->to, csv->separator);
}

/* Names from files: bytes that a terminal acts on are written as \xNN. */
static void put_name(const struct csv *csv, const char *text)
{
	tally_text_add_escaped(csv->to, text, strlen(text));
}

static void put_time(const struct csv *csv)
{
	if (csv->options.intervals) {
		tally_stat_put_time(csv->options.time, csv->to);
		separate(csv);
	}
}

/* "S0-D0-C0,2," */
static void put_part(const struct csv *csv, size_t event, size_t part, uint32_t places)
{
	struct tally_buf name = {0};

	if (csv->of->by == TALLY_STAT_GLOBAL)
		return;
	tally_stat_line_name(csv->stat, event, part, &name);
	put_name(csv, tally_buf_str(&name));
	tally_buf_done(&name);
	separate(csv);
	if (tally_stat_counts_places(csv->of->by)) {
		tally_buf_printf(csv->to, "%u", places);
		separate(csv);
	}
}

static void put_number(const struct csv *csv, const struct tally_stat_derived *derived)
{
	if (derived->known && isfinite(derived->value))
		tally_buf_printf(csv->to, "%.*f", derived->decimals, derived->value);
}

static void put_derived(const struct csv *csv, const struct tally_stat_derived *derived)
{
	separate(csv);
	put_number(csv, derived);
	separate(csv);
	if (!derived->known)
		return;
	if (derived->of_unit) {
		tally_buf_text(csv->to, derived->of_unit);
		tally_buf_text(csv->to, "  ");
	}
	tally_buf_text(csv->to, derived->unit);
}

/* A line for a further derived value: the fields of the count are empty. */
static void begin_further(const struct csv *csv, const struct stat_line *line)
{
	/* Source: the fields that perf 6.1 leaves empty; for nodes it is one field fewer. */
	static const uint8_t fields[] = {
	    [TALLY_STAT_CPU] = 1,     [TALLY_STAT_THREAD] = 1, [TALLY_STAT_CORE] = 2,
	    [TALLY_STAT_CLUSTER] = 2, [TALLY_STAT_CACHE] = 2,  [TALLY_STAT_DIE] = 2,
	    [TALLY_STAT_SOCKET] = 2,  [TALLY_STAT_NODE] = 1,
	};
	size_t count = 3u + fields[csv->of->by] + (csv->of->events[line->event].cgroup != NULL);

	tally_buf_byte(csv->to, '\n');
	put_time(csv);
	put_part(csv, line->event, line->part, line->value.places);
	while (count--)
		separate(csv);
}

static bool has_cgroups(const struct tally_stat_options *of)
{
	for (size_t i = 0; i < of->event_count; i++)
		if (of->events[i].cgroup)
			return true;
	return false;
}

static void put_line(const struct csv *csv, const struct stat_line *line, bool cgroups)
{
	const struct tally_stat_event *event = &csv->of->events[line->event];
	struct tally_stat_derived derived[TALLY_STAT_DERIVED_MOST] = {{.size = sizeof(*derived)}};
	const struct tally_stat_value *value = &line->value;
	bool counted = tally_stat_counted(value);
	size_t count = 0;

	put_time(csv);
	if (csv->options.summary)
		tally_buf_printf(csv->to, "%16s%s", "summary", csv->separator);
	put_part(csv, line->event, line->part, value->places);
	if (counted)
		/* With a scale that is not an integer, the value has decimals. */
		tally_buf_printf(csv->to, "%.*f", floor(event->scale) < event->scale ? 2 : 0,
				 value->value);
	else
		tally_buf_text(csv->to, tally_stat_uncounted(value->quality));
	separate(csv);
	put_name(csv, event->unit);
	separate(csv);
	put_name(csv, event->name);
	if (cgroups) {
		separate(csv);
		put_name(csv, event->cgroup ? event->cgroup : "");
	}
	if (csv->options.repeated) {
		separate(csv);
		tally_buf_printf(csv->to, "%.2f%%",
				 value->value != 0 ? 100 * value->spread / value->value : 0);
	}
	separate(csv);
	tally_buf_printf(csv->to, "%.0f", counted ? value->running : 0);
	separate(csv);
	tally_buf_printf(csv->to, "%.2f", counted ? tally_stat_running(value) : 100.0);
	if (counted)
		count = tally_stat_derive(csv->stat, line->event, line->part, derived,
					  TALLY_STAT_DERIVED_MOST);
	for (size_t i = 0; i < count; i++) {
		if (derived[i].next_line)
			begin_further(csv, line);
		put_derived(csv, &derived[i]);
	}
	if (!count) {
		separate(csv);
		separate(csv);
	}
	tally_buf_byte(csv->to, '\n');
}

/* --- metrics only: a line of names, then a line for each part --- */

static void put_metric_names(const struct csv *csv)
{
	static const char *const firsts[] = {
	    [TALLY_STAT_GLOBAL] = NULL,       [TALLY_STAT_CPU] = "cpu",
	    [TALLY_STAT_THREAD] = "comm-pid", [TALLY_STAT_CORE] = "core",
	    [TALLY_STAT_CLUSTER] = "cluster", [TALLY_STAT_CACHE] = "cache",
	    [TALLY_STAT_DIE] = "die",         [TALLY_STAT_SOCKET] = "socket",
	    [TALLY_STAT_NODE] = "node",
	};
	struct tally_stat_derived derived[TALLY_STAT_DERIVED_MOST] = {{.size = sizeof(*derived)}};

	if (csv->options.intervals)
		tally_buf_printf(csv->to, "time%s", csv->separator);
	if (firsts[csv->of->by])
		tally_buf_printf(csv->to, "%s%s", firsts[csv->of->by], csv->separator);
	if (tally_stat_counts_places(csv->of->by))
		tally_buf_printf(csv->to, "cpus%s", csv->separator);
	for (size_t event = 0; event < csv->of->event_count; event++) {
		size_t count =
		    tally_stat_derive(csv->stat, event, 0, derived, TALLY_STAT_DERIVED_MOST);

		for (size_t i = 0; i < count; i++)
			if (tally_stat_is_metric(&derived[i])) {
				tally_stat_metric_name(&csv->of->events[event], &derived[i],
						       csv->to);
				separate(csv);
			}
	}
	tally_buf_byte(csv->to, '\n');
}

static void put_metrics(const struct csv *csv, size_t part)
{
	struct tally_stat_derived derived[TALLY_STAT_DERIVED_MOST] = {{.size = sizeof(*derived)}};
	bool first = true;

	for (size_t event = 0; event < csv->of->event_count; event++) {
		struct tally_stat_value value = {.size = sizeof(value)};
		size_t count;

		if (!tally_stat_value(csv->stat, event, part, &value))
			continue;
		if (first) {
			put_time(csv);
			put_part(csv, event, part, value.places);
			first = false;
		}
		count = tally_stat_derive(csv->stat, event, part, derived, TALLY_STAT_DERIVED_MOST);
		for (size_t i = 0; i < count; i++)
			if (tally_stat_is_metric(&derived[i])) {
				put_number(csv, &derived[i]);
				separate(csv);
			}
	}
	if (!first)
		tally_buf_byte(csv->to, '\n');
}

int tally_stat_csv(const struct tally_stat *stat, const struct tally_stat_text_options *options,
		   FILE *to)
{
	struct tally_buf buf = {0};
	struct csv csv = {.stat = stat, .of = tally_stat_options(stat), .to = &buf};
	struct stat_line *lines = NULL;
	size_t count = 0, parts;
	int result = tally_options_take(&csv.options, sizeof(csv.options), options);

	csv.separator = csv.options.separator ? csv.options.separator : ",";
	tally_stat_parts(stat, &parts);
	if (!result && csv.options.metric_only) {
		if (csv.options.heading)
			put_metric_names(&csv);
		for (size_t i = 0; i < parts; i++)
			put_metrics(&csv, i);
	} else if (!result) {
		result = tally_stat_lines(stat, csv.options.skip_zeros, &lines, &count);
		for (size_t i = 0; i < count; i++)
			put_line(&csv, &lines[i], has_cgroups(csv.of));
	}
	if (!result)
		result = tally_stat_flush(&buf, to);
	free(lines);
	tally_buf_done(&buf);
	return result;
}
