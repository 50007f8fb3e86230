/* Counts as a table for people.
 *
 *  Performance counter stats for 'make' (3 runs):
 *
 *       1,203.41 msec  task-clock        #  0.985 CPUs utilized        ( +-  0.31% )
 *  4,512,345,678       cycles            #  3.749 GHz                  ( +-  0.30% )  (scaled
 * from 62.5%) <not supported>      branches
 *
 * Cells are made first, then columns get the width of their widest cell; names are cut where the
 * terminal is narrow. */
#include "stat/stat_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/option_struct.h"
#include "base/table.h"
#include "base/text.h"
#include "base/cell.h"

/* The smallest widths of names and of derived values, on any terminal. */
#define NAME_LEAST    16
#define NAME_SHORTEST 12 /* if nothing else can be left out */
#define DERIVED_LEAST 8
#define BRIEF_BELOW   100 /* terminals without room for words beside a share */

static const struct stat_column columns[STAT_COLUMNS] = {
    [STAT_TIME] = {.right = true},
    [STAT_PART] = {.gap = 1},
    [STAT_PLACES] = {.right = true, .gap = 1},
    [STAT_VALUE] = {.right = true, .gap = 1, .least = 14},
    [STAT_UNIT] = {.gap = 1},
    [STAT_NAME] = {.gap = 2, .least = 16},
    [STAT_CGROUP] = {.gap = 2},
    [STAT_NUMBER] = {.right = true, .gap = 2, .mark = "# "},
    [STAT_DERIVED] = {.gap = 1},
    [STAT_SPREAD] = {.gap = 2},
    [STAT_SHARE] = {.gap = 2},
};

/* --- cells --- */

static void begin_cell(struct stat_table *table, struct stat_cell_text *cell)
{
	cell->at = table->pool.size;
}

static void end_cell(struct stat_table *table, struct stat_cell_text *cell)
{
	cell->length = table->pool.size - cell->at;
	if (!table->pool.failed && cell->length)
		cell->columns =
		    tally_cell_columns((const char *)table->pool.data + cell->at, cell->length);
}

static void put_name(struct stat_table *table, struct stat_cell_text *cell, const char *text)
{
	begin_cell(table, cell);
	tally_text_add_escaped(&table->pool, text, strlen(text));
	end_cell(table, cell);
}

/* 1234567.5 -> 1,234,567.5 */
void tally_stat_put_number(struct tally_buf *to, double value, int decimals, bool grouped)
{
	char digits[400];
	int length = snprintf(digits, sizeof(digits), "%.*f", decimals, value);
	size_t whole, at = 0;

	if (length < 0 || (size_t)length >= sizeof(digits))
		return;
	if (*digits == '-')
		tally_buf_byte(to, (uint8_t)digits[at++]);
	whole = strspn(digits + at, "0123456789");
	for (size_t i = 0; i < whole; i++) {
		if (grouped && i && (whole - i) % 3 == 0)
			tally_buf_byte(to, ',');
		tally_buf_byte(to, (uint8_t)digits[at + i]);
	}
	tally_buf_text(to, digits + at + whole);
}

/* Means of small numbers need digits after the point. */
static int decimals_of(const struct stat_table *table, const struct tally_stat_event *event,
		       double value)
{
	if (floor(event->scale) < event->scale)
		return 2;
	return tally_stat_runs(table->stat) > 1 && !table->options.intervals && value < 1000 &&
		       floor(value) < value
		   ? 1
		   : 0;
}

static void put_value(struct stat_table *table, struct stat_row *row, const struct stat_line *line)
{
	const struct tally_stat_event *event = &table->of->events[line->event];
	struct stat_cell_text *cell = &row->cells[STAT_VALUE];

	begin_cell(table, cell);
	/* If nothing ran that could be counted, 0 is correct, and clearer than perf's word. */
	if (tally_stat_counted(&line->value) || line->value.quality == TALLY_COUNT_IDLE)
		tally_stat_put_number(&table->pool, line->value.value,
				      decimals_of(table, event, line->value.value),
				      !table->options.plain_numbers);
	else
		tally_buf_text(&table->pool, tally_stat_uncounted(line->value.quality));
	end_cell(table, cell);
}

static void put_derived(struct stat_table *table, struct stat_row *row,
			const struct tally_stat_derived *derived)
{
	struct stat_cell_text *cell = &row->cells[STAT_NUMBER];
	struct tally_buf unit = {0};

	begin_cell(table, cell);
	tally_stat_put_number(&table->pool, derived->value, derived->decimals, false);
	tally_buf_text(&table->pool, derived->suffix);
	end_cell(table, cell);
	row->grade = derived->grade;
	if (derived->of_unit)
		tally_buf_printf(&unit, "%s  ", derived->of_unit);
	tally_buf_text(&unit, derived->unit);
	put_name(table, &row->cells[STAT_DERIVED], tally_buf_str(&unit));
	tally_buf_done(&unit);
}

static void put_trust(struct stat_table *table, struct stat_row *row,
		      const struct tally_stat_value *value)
{
	if (table->options.repeated) {
		begin_cell(table, &row->cells[STAT_SPREAD]);
		if (value->value != 0)
			tally_buf_printf(&table->pool, "( +-%6.2f%% )",
					 100 * value->spread / value->value);
		end_cell(table, &row->cells[STAT_SPREAD]);
	}
	begin_cell(table, &row->cells[STAT_SHARE]);
	if (value->quality == TALLY_COUNT_SCALED)
		tally_buf_printf(&table->pool, "(%s%.1f%%)",
				 table->options.width && table->options.width < BRIEF_BELOW ? ""
				 : table->of->unscaled ? "counted "
						       : "scaled from ",
				 tally_stat_running(value));
	if (value->missing)
		tally_buf_printf(&table->pool, "%s(%u of %u places missing)",
				 value->quality == TALLY_COUNT_SCALED ? " " : "", value->missing,
				 value->places);
	end_cell(table, &row->cells[STAT_SHARE]);
}

static void put_part(struct stat_table *table, struct stat_row *row, const struct stat_line *line)
{
	struct tally_buf name = {0};

	if (table->options.intervals) {
		begin_cell(table, &row->cells[STAT_TIME]);
		tally_stat_put_time(table->options.time, &table->pool);
		end_cell(table, &row->cells[STAT_TIME]);
	}
	tally_stat_line_name(table->stat, line->event, line->part, &name);
	put_name(table, &row->cells[STAT_PART], tally_buf_str(&name));
	tally_buf_done(&name);
	if (tally_stat_counts_places(table->of->by)) {
		begin_cell(table, &row->cells[STAT_PLACES]);
		tally_buf_printf(&table->pool, "%u", line->value.places);
		end_cell(table, &row->cells[STAT_PLACES]);
	}
}

static struct stat_row *add_row(struct stat_table *table)
{
	if (!array_next(&table->rows, &table->row_room, table->row_count, 32, sizeof(*table->rows)))
		return NULL;
	table->rows[table->row_count] = (struct stat_row){.grade = TALLY_STAT_PLAIN};
	return &table->rows[table->row_count++];
}

/* Adds a count's row, and one for each further derived value. */
static int add_line(struct stat_table *table, const struct stat_line *line)
{
	const struct tally_stat_event *event = &table->of->events[line->event];
	struct tally_stat_derived derived[TALLY_STAT_DERIVED_MOST] = {{.size = sizeof(*derived)}};
	struct stat_row *row = add_row(table);
	size_t count, shown = 0;

	if (!row)
		return -ENOMEM;
	row->faint = !tally_stat_counted(&line->value);
	put_part(table, row, line);
	put_value(table, row, line);
	put_name(table, &row->cells[STAT_UNIT], event->unit);
	put_name(table, &row->cells[STAT_NAME], event->name);
	if (event->cgroup)
		put_name(table, &row->cells[STAT_CGROUP], event->cgroup);
	if (tally_stat_counted(&line->value))
		put_trust(table, row, &line->value);
	count = tally_stat_derive(table->stat, line->event, line->part, derived,
				  TALLY_STAT_DERIVED_MOST);
	for (size_t i = 0; i < count; i++) {
		if (!derived[i].known)
			continue;
		if (shown++) {
			row = add_row(table);
			if (!row)
				return -ENOMEM;
			put_part(table, row, line);
		}
		put_derived(table, row, &derived[i]);
	}
	return 0;
}

/* --- layout --- */

/* Counts and their quality are kept longest; if even these do not fit, names become narrower. */
static void leave_out_derived(struct stat_table *table, size_t over)
{
	size_t freed = 0, spare = table->widths[STAT_NAME];

	for (size_t i = STAT_NUMBER; i <= STAT_DERIVED; i++)
		if (table->widths[i])
			freed += table->widths[i] + columns[i].gap +
				 (columns[i].mark ? strlen(columns[i].mark) : 0);
	table->widths[STAT_NUMBER] = table->widths[STAT_DERIVED] = 0;
	over -= freed < over ? freed : over;
	spare = spare < NAME_SHORTEST ? 0 : spare - NAME_SHORTEST;
	table->widths[STAT_NAME] -= spare < over ? spare : over;
}

static void measure(struct stat_table *table)
{
	size_t total = 0, values = 0; /* the width of the values themselves */

	for (size_t i = 0; i < STAT_COLUMNS; i++) {
		size_t width = 0;

		for (size_t j = 0; j < table->row_count; j++)
			if (table->rows[j].cells[i].columns > width)
				width = table->rows[j].cells[i].columns;
		if (width && width < columns[i].least)
			width = columns[i].least;
		if (i == STAT_VALUE)
			values = width < 15 ? 15 : width;
		if (table->options.intervals && i == STAT_NAME && width < 24)
			width = 24; /* columns do not move from one interval to the next */
		if (table->options.intervals && i == STAT_VALUE && width < 18)
			width = 18;
		table->widths[i] = width;
		if (width)
			total += width + columns[i].gap +
				 (columns[i].mark ? strlen(columns[i].mark) : 0);
	}
	if (table->options.width && total + 1 > table->options.width) {
		size_t over = total + 1 - table->options.width;
		size_t name = table->widths[STAT_NAME], spare = 0;

		/* It is the same in all intervals, as long as counts are small. */
		if (table->options.intervals)
			spare = table->widths[STAT_VALUE] - values;
		spare = spare < over ? spare : over;
		table->widths[STAT_VALUE] -= spare;
		over -= spare;
		spare = name < NAME_LEAST ? 0 : name - NAME_LEAST;
		spare = spare < over ? spare : over;
		table->widths[STAT_NAME] -= spare;
		over -= spare;
		/* A whole word and "..." is better than a word that is cut. */
		spare = table->widths[STAT_DERIVED];
		spare = spare < DERIVED_LEAST ? 0 : spare - DERIVED_LEAST;
		spare = spare < over ? spare : over;
		table->widths[STAT_DERIVED] -= spare;
		if (over > spare)
			leave_out_derived(table, over - spare);
	}
}

/* The length of the whole words within the first `length` bytes of a text. */
static size_t whole_words(const char *text, size_t length)
{
	size_t at = length;

	if (text[at] == ' ')
		return at;
	while (at && text[at - 1] != ' ')
		at--;
	while (at && text[at - 1] == ' ')
		at--;
	return at ? at : length;
}

static const char *tint(const struct stat_row *row, enum stat_column_id id)
{
	static const char *const grades[] = {
	    [TALLY_STAT_PLAIN] = NULL,         [TALLY_STAT_GOOD] = "\033[32m",
	    [TALLY_STAT_NOTABLE] = "\033[33m", [TALLY_STAT_HIGH] = "\033[35m",
	    [TALLY_STAT_BAD] = "\033[1;31m",
	};

	if (row->faint)
		return "\033[2m";
	switch (id) {
	case STAT_VALUE:
		return "\033[1m";
	case STAT_NUMBER:
		return grades[row->grade];
	case STAT_SHARE:
		return "\033[33m";
	case STAT_TIME:
	case STAT_UNIT:
	case STAT_DERIVED:
	case STAT_SPREAD:
		return "\033[2m";
	default:
		return NULL;
	}
}

static void put_cell(const struct stat_table *table, const struct stat_row *row,
		     enum stat_column_id id, struct tally_buf *to)
{
	const struct stat_cell_text *cell = &row->cells[id];
	const char *text = (const char *)table->pool.data + cell->at;
	size_t length = cell->length, taken = cell->columns;
	const char *colour = table->options.colour && taken ? tint(row, id) : NULL;
	bool cut = taken > table->widths[id];

	if (cut) {
		length = tally_cell_cut(text, length, table->widths[id] - 1);
		if (id == STAT_DERIVED)
			length = whole_words(text, length);
		taken = tally_cell_columns(text, length) + 1;
	}
	if (columns[id].right)
		tally_cell_spaces(to, table->widths[id] - taken);
	if (colour)
		tally_buf_text(to, colour);
	tally_buf_add(to, text, length);
	if (cut)
		tally_buf_text(to, "…");
	if (colour)
		tally_buf_text(to, "\033[0m");
	if (!columns[id].right)
		tally_cell_spaces(to, table->widths[id] - taken);
}

static void put_row(const struct stat_table *table, const struct stat_row *row,
		    struct tally_buf *to)
{
	size_t last = 0, start = to->size;

	for (size_t i = 0; i < STAT_COLUMNS; i++)
		if (row->cells[i].columns)
			last = i;
	for (size_t i = 0; i <= last; i++) {
		if (!table->widths[i])
			continue;
		tally_cell_spaces(to, columns[i].gap);
		if (columns[i].mark && row->cells[i].columns)
			tally_buf_text(to, columns[i].mark);
		else if (columns[i].mark)
			tally_cell_spaces(to, strlen(columns[i].mark));
		put_cell(table, row, (enum stat_column_id)i, to);
	}
	while (!to->failed && to->size > start && to->data[to->size - 1] == ' ')
		to->size--;
	tally_buf_byte(to, '\n');
}

/* "#          time  counts  unit  events", over the columns that follow. */
static void put_heading(const struct stat_table *table, struct tally_buf *to)
{
	static const char *const names[STAT_COLUMNS] = {
	    [STAT_TIME] = "time",    [STAT_PART] = "part", [STAT_PLACES] = "cpus",
	    [STAT_VALUE] = "counts", [STAT_UNIT] = "unit", [STAT_NAME] = "events",
	};

	tally_buf_byte(to, '#');
	for (size_t i = 0; i <= STAT_NAME; i++) {
		size_t length = names[i] ? strlen(names[i]) : 0, gap = columns[i].gap;
		size_t room = table->widths[i] > length ? table->widths[i] - length : 0;

		if (!table->widths[i])
			continue;
		tally_cell_spaces(to, i ? gap : 0);
		if (columns[i].right)
			tally_cell_spaces(to, i ? room : room ? room - 1 : 0);
		tally_buf_add(to, names[i], length > table->widths[i] ? table->widths[i] : length);
		if (!columns[i].right && i < STAT_NAME)
			tally_cell_spaces(to, room);
	}
	tally_buf_byte(to, '\n');
}

int tally_stat_text(const struct tally_stat *stat, const struct tally_stat_text_options *options,
		    FILE *to)
{
	struct stat_table table = {.stat = stat, .of = tally_stat_options(stat)};
	struct stat_line *lines = NULL;
	struct tally_buf buf = {0};
	size_t count = 0;
	int result = tally_options_take(&table.options, sizeof(table.options), options);

	if (!result)
		result = tally_stat_lines(stat, table.options.skip_zeros, &lines, &count);
	if (!result && !table.options.intervals)
		tally_stat_put_title(&table, &buf);
	if (!result && table.options.metric_only) {
		result = tally_stat_put_metrics(&table, &buf);
	} else if (!result) {
		for (size_t i = 0; i < count && !result; i++)
			result = add_line(&table, &lines[i]);
		measure(&table);
		if (table.options.heading)
			put_heading(&table, &buf);
		for (size_t i = 0; i < table.row_count && !result; i++)
			put_row(&table, &table.rows[i], &buf);
	}
	if (!result && !table.options.intervals)
		tally_stat_put_end(&table, lines, count, &buf);
	if (!result)
		result = table.pool.failed ? table.pool.failed : tally_stat_flush(&buf, to);
	free(lines);
	free(table.rows);
	tally_buf_done(&table.pool);
	tally_buf_done(&buf);
	return result;
}
