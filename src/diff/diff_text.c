/* A difference as a table in perf diff's columns, and a column that says whether a change is more
 * than chance. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/cell.h"
#include "base/option_struct.h"
#include "base/table.h"
#include "base/text.h"
#include "diff/diff_output.h"

#define KIND_MOST 5U /* columns of a recording: period, delta, formula, change, ... */

struct tally_diff_cell tally_diff_cell_of(const struct tally_diff *diff, size_t event, size_t row,
					  size_t recording)
{
	struct tally_diff_cell cell = {.size = sizeof(cell)};

	(void)tally_diff_cell(diff, event, row, recording, &cell);
	return cell;
}

bool tally_diff_is_changed(const struct tally_diff *diff, size_t event, size_t row)
{
	for (size_t i = 1; i < diff->recordings; i++) {
		const struct diff_side *side = &diff->events[event].rows[row].sides[i];

		if (side->significant || side->status == TALLY_DIFF_RENAMED)
			return true;
	}
	return false;
}

void tally_diff_verdict(const struct tally_diff_cell *cell, double of_all, struct tally_buf *to)
{
	switch (cell->status) {
	case TALLY_DIFF_RENAMED:
		tally_buf_text(to, "renamed to ");
		tally_cell_name(to, cell->name);
		tally_buf_text(to, ", ");
		break;
	case TALLY_DIFF_INLINED:
		if (cell->significant) {
			tally_buf_printf(to, "gone: inlined, %.2f%% in its callers", of_all);
			return;
		}
		break;
	case TALLY_DIFF_NEW:
	case TALLY_DIFF_GONE:
		if (cell->significant) {
			tally_buf_text(to, cell->status == TALLY_DIFF_NEW ? "new" : "gone");
			return;
		}
		break;
	case TALLY_DIFF_BOTH:
		break;
	}
	tally_buf_text(to, !cell->significant ? "within the noise" : cell->more ? "more" : "less");
	if (cell->absorbed_samples)
		tally_buf_text(to, " with inlined functions");
}

/* All cells are made first, as their columns are as wide as the widest. */
struct table {
	const struct tally_diff *diff;
	const struct tally_diff_text *options;
	size_t event, columns;
	struct tally_buf text; /* cells, each with a NUL */
	size_t *starts, count, room;
	size_t *widths;
	bool *right; /* numbers */
};

static int end_cell(struct table *table, size_t from, size_t column)
{
	size_t width;

	if (table->text.failed)
		return -ENOMEM;
	width = tally_cell_columns((const char *)table->text.data + from, table->text.size - from);
	tally_buf_byte(&table->text, 0);
	if (!array_next(&table->starts, &table->room, table->count, 1024, sizeof(*table->starts)))
		return -ENOMEM;
	table->starts[table->count++] = from;
	if (width > table->widths[column])
		table->widths[column] = width;
	return table->text.failed;
}

static const char *change_title(const struct tally_diff *diff)
{
	static const char *const titles[] = {
	    [TALLY_DIFF_DELTA_ABS] = "Delta Abs",
	    [TALLY_DIFF_DELTA] = "Delta",
	    [TALLY_DIFF_RATIO] = "Ratio",
	    [TALLY_DIFF_WDIFF] = "Weighted diff",
	};

	return titles[diff->options.compute];
}

/* As perf writes it. */
static void put_formula(const struct table *table, const struct tally_diff_cell *cell,
			size_t recording, struct tally_buf *to)
{
	const struct tally_diff *diff = table->diff;
	const struct diff_event *event = &diff->events[table->event];
	unsigned long long now = cell->period, before = cell->base_period;

	switch (diff->options.compute) {
	case TALLY_DIFF_RATIO:
		tally_buf_printf(to, "%llu / %llu", now, before);
		return;
	case TALLY_DIFF_WDIFF:
		tally_buf_printf(to, "(%llu * %lld) - (%llu * %lld)", now,
				 (long long)diff->options.w2, before, (long long)diff->options.w1);
		return;
	case TALLY_DIFF_DELTA:
	case TALLY_DIFF_DELTA_ABS:
		break;
	}
	tally_buf_printf(to, "(%llu * 100 / %llu) - (%llu * 100 / %llu)", now,
			 (unsigned long long)tally_diff_facts(diff, event, recording).total, before,
			 (unsigned long long)tally_diff_facts(diff, event, 0).total);
}

static void put_change(const struct tally_diff *diff, const struct tally_diff_cell *cell,
		       struct tally_buf *to)
{
	bool is_delta = diff->options.compute == TALLY_DIFF_DELTA ||
			diff->options.compute == TALLY_DIFF_DELTA_ABS;

	if (is_delta)
		tally_buf_printf(to, "%+.2f%%", cell->change);
	else if (!cell->base_samples)
		tally_buf_text(to, "N/A"); /* perf's word */
	else if (diff->options.compute == TALLY_DIFF_WDIFF)
		tally_buf_printf(to, "%.0f", cell->change);
	else
		tally_buf_printf(to, "%.6f", cell->change);
}

/* Of several recordings, with the number of the one that it is about. */
static void put_title(const struct tally_diff *diff, const char *title, size_t recording,
		      struct tally_buf *to)
{
	tally_buf_text(to, title);
	if (diff->recordings > 2)
		tally_buf_printf(to, "/%zu", recording);
}

/* Ends the cells of one line; `row` SIZE_MAX: the titles. */
static int put_recording(struct table *table, size_t row, size_t recording, size_t *column)
{
	const struct tally_diff *diff = table->diff;
	const struct diff_event *event = &diff->events[table->event];
	bool title = row == SIZE_MAX;
	struct tally_diff_cell cell = {.size = 0};
	struct tally_buf *to = &table->text;
	double samples = (double)tally_diff_facts(diff, event, recording).samples;
	int result;
	size_t from = to->size;

	if (!title)
		cell = tally_diff_cell_of(diff, table->event, row, recording);
	if (title)
		put_title(diff, change_title(diff), recording, to);
	else
		put_change(diff, &cell, to);
	table->right[*column] = true;
	result = end_cell(table, from, (*column)++);
	if (!result && table->options->show_formula) {
		from = to->size;
		if (title)
			put_title(diff, "Formula", recording, to);
		else
			put_formula(table, &cell, recording, to);
		table->right[*column] = true;
		result = end_cell(table, from, (*column)++);
	}
	if (!result && table->options->show_period) {
		from = to->size;
		if (title)
			put_title(diff, "Period", recording, to);
		else if (cell.samples)
			tally_cell_u64(to, cell.period);
		table->right[*column] = true;
		result = end_cell(table, from, (*column)++);
	}
	from = to->size;
	if (title)
		put_title(diff, "Change", recording, to);
	else
		tally_diff_verdict(
		    &cell, samples > 0 ? 100 * (double)cell.inlined_samples / samples : 0, to);
	return result ? result : end_cell(table, from, (*column)++);
}

static int put_key(struct table *table, size_t row, size_t key, size_t *column)
{
	const struct tally_diff *diff = table->diff;
	struct tally_buf *to = &table->text;
	struct report_field field;
	size_t from = to->size;

	for (size_t i = 0; i < diff->recordings; i++) {
		const struct diff_side *side =
		    row == SIZE_MAX ? NULL : &diff->events[table->event].rows[row].sides[i];

		if ((side && !side->present) ||
		    !tally_report_field_init(&field, diff->profiles[i], diff->keys[key]))
			continue;
		if (side)
			tally_report_field_text(&field, &side->row, 0, to);
		else
			tally_buf_text(to, field.title);
		break;
	}
	return end_cell(table, from, (*column)++);
}

static int put_line(struct table *table, size_t row)
{
	const struct tally_diff *diff = table->diff;
	struct tally_buf *to = &table->text;
	size_t from = to->size, column = 0;
	bool title = row == SIZE_MAX;
	struct tally_diff_cell cell = {.size = 0};
	int result;

	if (!title)
		cell = tally_diff_cell_of(diff, table->event, row, 1);
	if (title)
		tally_buf_text(to, "Baseline");
	else if (cell.base_samples)
		tally_buf_printf(to, table->options->separator ? "%.2f" : "%.2f%%",
				 cell.base_share);
	table->right[column] = true;
	result = end_cell(table, from, column++);
	if (!result && table->options->show_period) {
		from = to->size;
		if (title)
			tally_buf_text(to, "Base period");
		else if (cell.base_samples)
			tally_cell_u64(to, cell.base_period);
		table->right[column] = true;
		result = end_cell(table, from, column++);
	}
	for (size_t i = 1; i < diff->recordings && !result; i++)
		result = put_recording(table, row, i, &column);
	for (size_t i = 0; i < diff->key_count && !result; i++)
		result = put_key(table, row, i, &column);
	table->columns = column;
	return result;
}

/* A separator's own first character in a cell becomes a full stop, as in perf. */
static void put_plain(const char *text, const char *separator, struct tally_buf *to)
{
	for (; *text; text++)
		tally_buf_byte(to, (uint8_t)(*text == separator[0] ? '.' : *text));
}

static void lay_out(const struct table *table, size_t line, struct tally_buf *to)
{
	const char *separator = table->options->separator;
	size_t start = to->size;

	if (!separator)
		tally_buf_text(to, line ? "  " : "# ");
	else if (!line)
		tally_buf_text(to, "# ");
	for (size_t i = 0; i < table->columns; i++) {
		const char *cell =
		    (const char *)table->text.data + table->starts[line * table->columns + i];
		size_t used = tally_cell_columns(cell, strlen(cell));

		if (separator) {
			tally_buf_text(to, i ? separator : "");
			put_plain(cell, separator, to);
			continue;
		}
		tally_buf_text(to, i ? "  " : "");
		if (table->right[i])
			tally_cell_spaces(to, table->widths[i] - used);
		tally_buf_text(to, cell);
		if (!table->right[i] && i + 1 < table->columns)
			tally_cell_spaces(to, table->widths[i] - used);
	}
	if (!separator && table->options->width && !to->failed)
		to->size = start + tally_cell_cut((const char *)to->data + start, to->size - start,
						  table->options->width);
	tally_buf_byte(to, '\n');
}

static void put_head(const struct table *table, size_t changed, struct tally_buf *to)
{
	const struct tally_diff *diff = table->diff;

	if (table->options->quiet || table->options->separator)
		return;
	tally_buf_text(to, "# Event '");
	tally_cell_name(to, diff->events[table->event].name);
	tally_buf_text(to, "'\n");
	for (size_t i = 0; table->options->names && i < diff->recordings; i++) {
		tally_buf_printf(to, "#  [%zu] ", i);
		tally_cell_name(to, table->options->names[i]);
		tally_buf_text(to, i ? "\n" : " (Baseline)\n");
	}
	tally_buf_printf(
	    to,
	    "# Changes: %zu; all other rows are within the noise: less than chance, and %g %% "
	    "between equal runs, explain\n#\n",
	    changed, diff->options.noise);
}

static int write_event(struct table *table, struct tally_buf *to)
{
	const struct tally_diff *diff = table->diff;
	size_t rows = diff->events[table->event].count, lines = 1, changed = 0;
	size_t most = 2 + KIND_MOST * diff->recordings + diff->key_count;
	int result;

	table->widths = calloc(most, sizeof(*table->widths));
	table->right = calloc(most, sizeof(*table->right));
	result = table->widths && table->right ? put_line(table, SIZE_MAX) : -ENOMEM;
	for (size_t i = 0; i < rows && !result; i++) {
		bool is_changed = tally_diff_is_changed(diff, table->event, i);

		changed += is_changed;
		if (table->options->significant_only && !is_changed)
			continue;
		result = put_line(table, i);
		lines++;
	}
	if (!result)
		put_head(table, changed, to);
	for (size_t i = table->options->quiet; i < lines && !result; i++)
		lay_out(table, i, to);
	tally_buf_done(&table->text);
	free(table->starts);
	free(table->widths);
	free(table->right);
	return result;
}

int tally_diff_write_text(const struct tally_diff *diff, const struct tally_diff_text *options,
			  FILE *to)
{
	struct tally_buf text = {0};
	int result = 0;

	for (size_t i = 0; i < diff->event_count && !result; i++) {
		struct table table = {.diff = diff, .options = options, .event = i};

		if (!diff->events[i].count)
			continue;
		if (text.size)
			tally_buf_byte(&text, '\n');
		result = write_event(&table, &text);
	}
	if (!result)
		return tally_buf_put(&text, to);
	tally_buf_done(&text);
	return result;
}

int tally_diff_write(const struct tally_diff *diff, const struct tally_diff_text *options, FILE *to)
{
	struct tally_diff_text wanted = {.size = sizeof(wanted)};
	int result = tally_options_take(&wanted, sizeof(wanted), options);

	if (result)
		return result;
	return wanted.json ? tally_diff_write_json(diff, &wanted, to)
			   : tally_diff_write_text(diff, &wanted, to);
}
