/* The text above and below the table of counts: its title, the times, and why something was not
 * counted. */
#include <math.h>
#include <string.h>
#include "base/text.h"
#include "base/cell.h"
#include "base/fold.h"
#include "stat/stat_table.h"

#define SECOND 1e9

static void put_escaped(struct tally_buf *to, const char *text)
{
	tally_text_add_escaped(to, text, strlen(text));
}

void tally_stat_put_title(const struct stat_table *table, struct tally_buf *to)
{
	if (!table->options.title)
		return;
	tally_buf_text(to, "\n Performance counter stats for ");
	put_escaped(to, table->options.title);
	if (tally_stat_runs(table->stat) > 1)
		tally_buf_printf(to, " (%zu runs)", tally_stat_runs(table->stat));
	tally_buf_text(to, ":\n\n");
}

/* --- metrics only --- */

struct metric_columns {
	const struct stat_table *table;
	struct tally_buf *to;
};

static size_t derive(const struct stat_table *table, size_t event, size_t part,
		     struct tally_stat_derived *derived)
{
	size_t kept = 0, count = tally_stat_derive(table->stat, event, part, derived,
						   TALLY_STAT_DERIVED_MOST);

	for (size_t i = 0; i < count; i++)
		if (tally_stat_is_metric(&derived[i]))
			derived[kept++] = derived[i];
	return kept;
}

static void put_right(struct tally_buf *to, const char *text, size_t width)
{
	struct tally_buf escaped = {0};
	size_t columns;

	put_escaped(&escaped, text);
	columns = tally_cell_columns(tally_buf_str(&escaped), escaped.size);
	tally_cell_spaces(to, 2 + (width > columns ? width - columns : 0));
	tally_buf_add(to, escaped.data, escaped.size);
	tally_buf_done(&escaped);
}

/* A line of names (part SIZE_MAX) or of values. */
static void put_metric_line(const struct stat_table *table, size_t part, struct tally_buf *to)
{
	struct tally_stat_derived derived[TALLY_STAT_DERIVED_MOST] = {{.size = sizeof(*derived)}};

	for (size_t event = 0; event < table->of->event_count; event++) {
		size_t count = derive(table, event, part == SIZE_MAX ? 0 : part, derived);

		for (size_t i = 0; i < count; i++) {
			struct tally_buf name = {0}, number = {0};

			tally_stat_metric_name(&table->of->events[event], &derived[i], &name);
			if (part == SIZE_MAX) {
				put_right(to, tally_buf_str(&name), 8);
			} else {
				if (derived[i].known)
					tally_buf_printf(&number, "%.*f%s", derived[i].decimals,
							 derived[i].value, derived[i].suffix);
				put_right(to, number.size ? tally_buf_str(&number) : "-",
					  name.size < 8 ? 8 : name.size);
			}
			tally_buf_done(&name);
			tally_buf_done(&number);
		}
	}
	tally_buf_byte(to, '\n');
}

int tally_stat_put_metrics(const struct stat_table *table, struct tally_buf *to)
{
	size_t parts, width = 0;
	struct tally_buf name = {0};

	tally_stat_parts(table->stat, &parts);
	for (size_t i = 0; i < parts; i++) {
		tally_buf_clear(&name);
		tally_stat_part_name(table->stat, i, &name);
		if (name.size > width)
			width = name.size;
	}
	if (table->options.heading) {
		if (table->options.intervals)
			tally_buf_text(to, "#          time");
		tally_cell_spaces(to, width);
		put_metric_line(table, SIZE_MAX, to);
	}
	for (size_t i = 0; i < parts; i++) {
		if (table->options.intervals)
			tally_stat_put_time(table->options.time, to);
		tally_buf_clear(&name);
		tally_stat_part_name(table->stat, i, &name);
		put_escaped(to, tally_buf_str(&name));
		tally_cell_spaces(to, width - name.size);
		put_metric_line(table, i, to);
	}
	tally_buf_done(&name);
	return 0;
}

/* --- below --- */

/* The number of decimals with which the spread has two digits. */
static int precision(double spread)
{
	return spread >= 1 || spread <= 0 ? 2 : (int)lround(ceil(-log10(spread))) + 2;
}

static void put_runs(const struct stat_table *table, double mean, int digits, struct tally_buf *to)
{
	tally_buf_text(to, "  Each run:\n");
	for (size_t i = 0; i < table->options.run_time_count; i++) {
		double run = (double)table->options.run_times[i] / SECOND;
		double off = mean > 0 ? (run - mean) / mean : 0;
		size_t marks = 1 + (size_t)fmin(fabs(off) * 20, 40);

		tally_buf_printf(to, " %17.*f (%+.*f) ", digits, run, digits, run - mean);
		while (marks--)
			tally_buf_byte(to, '#');
		tally_buf_byte(to, '\n');
	}
	tally_buf_byte(to, '\n');
}

static void put_times(const struct stat_table *table, struct tally_buf *to)
{
	struct tally_stat_duration times = {.size = sizeof(times)};
	double elapsed, spread;
	int digits;
	size_t start;

	tally_stat_duration(table->stat, &times);
	elapsed = times.elapsed / SECOND;
	spread = times.elapsed_spread / SECOND;
	digits = precision(spread);
	if (tally_stat_runs(table->stat) < 2) {
		tally_buf_printf(to, " %17.9f seconds time elapsed\n", elapsed);
		if (table->options.command_times)
			tally_buf_printf(to, "\n %17.9f seconds user\n %17.9f seconds sys\n",
					 times.user / SECOND, times.system / SECOND);
		return;
	}
	if (table->options.run_times)
		put_runs(table, elapsed, digits, to);
	start = to->size;
	tally_buf_printf(to, " %17.*f +- %.*f seconds time elapsed", digits, elapsed, digits,
			 spread);
	if (!table->options.width ||
	    to->size - start + strlen("  ( +-100.00% )") <= table->options.width)
		tally_buf_printf(to, "  ( +-%6.2f%% )", elapsed > 0 ? 100 * spread / elapsed : 0);
	tally_buf_byte(to, '\n');
	if (table->options.command_times)
		tally_buf_printf(
		    to, "\n %17.*f +- %.*f seconds user\n %17.*f +- %.*f seconds sys\n", digits,
		    times.user / SECOND, digits, times.user_spread / SECOND, digits,
		    times.system / SECOND, digits, times.system_spread / SECOND);
}

static bool is_uncounted(const struct stat_table *table, const struct stat_line *line)
{
	const char *why = table->of->events[line->event].why;

	return !tally_stat_counted(&line->value) && why && *why;
}

/* Writes a line for each reason, with all its events. */
static void put_reasons(const struct stat_table *table, const struct stat_line *lines, size_t count,
			struct tally_buf *to)
{
	for (size_t i = 0; i < count; i++) {
		const char *why = table->of->events[lines[i].event].why;
		const char *separator = " Not counted: ";
		bool printed = false;

		if (!is_uncounted(table, &lines[i]))
			continue;
		for (size_t j = 0; j < i && !printed; j++)
			printed = is_uncounted(table, &lines[j]) &&
				  !strcmp(table->of->events[lines[j].event].why, why);
		if (printed)
			continue;
		tally_buf_byte(to, '\n');
		for (size_t j = i; j < count; j++) {
			const struct tally_stat_event *event = &table->of->events[lines[j].event];

			printed = j > i && lines[j].event == lines[i].event;
			if (printed || !is_uncounted(table, &lines[j]) || strcmp(event->why, why) ||
			    lines[j].part != lines[i].part)
				continue;
			tally_buf_text(to, separator);
			put_escaped(to, event->name);
			separator = ", ";
		}
		tally_buf_text(to, ": ");
		put_escaped(to, why);
		tally_buf_byte(to, '\n');
	}
}

/* Writes the values that are shown as words only. */
static void put_words(const struct stat_table *table, const struct stat_line *lines, size_t count,
		      struct tally_buf *to)
{
	struct tally_buf text = {0};

	put_reasons(table, lines, count, &text);
	if (table->options.hint) {
		tally_buf_text(&text, "\n ");
		put_escaped(&text, table->options.hint);
		tally_buf_byte(&text, '\n');
	}
	if (text.failed)
		to->failed = text.failed;
	else if (text.size)
		tally_fold_lines(to, tally_buf_str(&text), table->options.width);
	tally_buf_done(&text);
}

void tally_stat_put_end(const struct stat_table *table, const struct stat_line *lines, size_t count,
			struct tally_buf *to)
{
	if (!table->options.totals_only)
		tally_buf_byte(to, '\n');
	put_times(table, to);
	put_words(table, lines, count, to);
	tally_buf_byte(to, '\n');
}
