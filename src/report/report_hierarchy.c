/* The layout is perf's: a column for each sum, moved to the right by the line's depth, then the
 * line's key.  Source: hist_entry__hierarchy_fprintf() of perf 6.1's ui/stdio/hist.c. */
#include "report/report_hierarchy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/cell.h"
#include "base/table.h"
#include "profile/profile.h"
#include "report/report_rows.h"
#include "report/shorten.h"

#define INDENT     3U /* columns of a depth */
#define FLUSH_SIZE ((size_t)1 << 16)
#define KEY_LEAST  16U /* columns that keys keep on any terminal */

/* Sums of a line, of one event. */
struct line_sums {
	uint64_t self, children, samples, undivided, modes[4];
};

struct line {
	uint64_t row;          /* one of those that it stands for: it has the line's keys */
	uint32_t first, count; /* of the lines below: their places in the list */
};

struct hierarchy {
	const struct report_table *table;
	uint32_t events;                                     /* of a group; else 1 */
	unsigned sums, levels;                               /* fields that are sums come first */
	unsigned level_first[TALLY_REPORT_COLUMNS_MOST + 1]; /* fields */
	size_t widths[TALLY_REPORT_COLUMNS_MOST];            /* of keys, by field */
	uint64_t *rows;                                      /* by their keys */
	struct line *lines;
	struct line_sums *values; /* `events` for each line */
	uint32_t count, room;
	report_tree_fn tree;
	void *context;
	struct tally_buf *to;
	FILE *file;
};

/* --- levels --- */

/* The fields of each level: a key is one, or joined to the one before it. */
static void find_levels(struct hierarchy *of)
{
	const struct report_table *table = of->table;
	uint64_t joined = table->options->joined_keys;

	while (of->sums < table->field_count && !table->fields[of->sums].key)
		of->sums++;
	for (unsigned i = of->sums; i < table->field_count; i++) {
		unsigned key = i - of->sums;

		if (!key || key >= 64 || !(joined >> key & 1))
			of->level_first[of->levels++] = i;
	}
	of->level_first[of->levels] = (unsigned)table->field_count;
}

static unsigned indent_of(const struct hierarchy *of)
{
	return of->levels ? (of->levels - 1) * INDENT : 0;
}

/* --- lines --- */

/* A sum among the keys (-s comm,sample) makes no difference: its line has all of the line above. */
static int compare_keys(const struct hierarchy *of, unsigned first, unsigned last, uint64_t a,
			uint64_t b)
{
	struct tally_profile_row left = report_table_row(of->table, a);
	struct tally_profile_row right = report_table_row(of->table, b);
	int result = 0;

	for (unsigned i = first; i < last && !result; i++)
		if (of->table->fields[i].key)
			result = tally_report_field_compare(&of->table->fields[i], &left, &right);
	return result;
}

static int by_keys(const void *left, const void *right, void *context)
{
	const struct hierarchy *of = context;
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	int result = compare_keys(of, of->sums, (unsigned)of->table->field_count, a, b);

	return result ? result : a < b ? -1 : a > b;
}

static void add_sums(struct line_sums *to, const struct tally_profile_row *row)
{
	to->self += row->self;
	to->children += row->children;
	to->samples += row->samples;
	to->undivided += row->undivided;
	for (unsigned i = 0; i < 4; i++)
		to->modes[i] += row->modes[i];
}

static void add_row(struct hierarchy *of, uint32_t line, uint64_t at)
{
	struct line_sums *values = &of->values[(size_t)line * of->events];
	struct tally_profile_row row;

	for (uint32_t event = 0; event < of->events; event++) {
		row = of->table->group.count
			  ? tally_report_group_event_row(&of->table->group, at, event)
			  : report_table_row(of->table, at);
		add_sums(&values[event], &row);
	}
}

static int grow(struct hierarchy *of, uint32_t count)
{
	uint64_t room = of->room ? of->room : 256;

	if (of->count + (uint64_t)count > UINT32_MAX / 2)
		return -ENOMEM;
	while (room < of->count + (uint64_t)count)
		room *= 2;
	if (room == of->room)
		return 0;
	if (!array_resize(&of->lines, room, sizeof(*of->lines)) ||
	    !array_resize(&of->values, room * of->events, sizeof(*of->values)))
		return -ENOMEM;
	of->room = (uint32_t)room;
	return 0;
}

/* How many rows from `first` on have the same keys of the level. */
static uint64_t run_of(const struct hierarchy *of, unsigned level, uint64_t first, uint64_t last)
{
	uint64_t at = first + 1;

	while (at < last && !compare_keys(of, of->level_first[level], of->level_first[level + 1],
					  of->rows[first], of->rows[at]))
		at++;
	return at - first;
}

/* Makes the lines of rows that are equal above the level: side by side, and then those below each.
 */
static int make_lines(struct hierarchy *of, unsigned level, uint64_t first, uint64_t last,
		      uint32_t *ret_first, uint32_t *ret_count)
{
	uint32_t start = of->count, count = 0, line;
	int result = 0;

	for (uint64_t at = first; at < last; at += run_of(of, level, at, last))
		count++;
	result = grow(of, count);
	if (result)
		return result;
	of->count += count;
	*ret_first = line = start;
	*ret_count = count;
	for (uint64_t at = first, run; at < last && !result; at += run, line++) {
		uint32_t below = 0, number = 0;

		run = run_of(of, level, at, last);
		memset(&of->values[(size_t)line * of->events], 0, of->events * sizeof(*of->values));
		of->lines[line] = (struct line){.row = of->rows[at]};
		for (uint64_t i = at; i < at + run; i++)
			add_row(of, line, of->rows[i]);
		if (level + 1 < of->levels)
			result = make_lines(of, level + 1, at, at + run, &below, &number);
		of->lines[line].first = below;
		of->lines[line].count = number;
	}
	return result;
}

/* The largest first, by the event that rows are sorted by and then by the others; lines come by
 * their text where all are equal. */
static int by_size(const void *left, const void *right, void *context)
{
	const struct hierarchy *of = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint32_t sort =
	    of->table->options->group_sort < of->events ? of->table->options->group_sort : 0;

	for (uint32_t i = 0; i <= of->events; i++) {
		uint32_t event = i ? i - 1 : sort;
		uint64_t x = of->values[(size_t)a * of->events + event].children;
		uint64_t y = of->values[(size_t)b * of->events + event].children;

		if (x != y)
			return x > y ? -1 : 1;
	}
	return a < b ? -1 : a > b;
}

/* --- text --- */

static struct tally_profile_row row_of(const struct hierarchy *of, uint32_t line, uint32_t event)
{
	const struct line_sums *sums = &of->values[(size_t)line * of->events + event];
	struct tally_profile_row row = {.size = sizeof(row)};

	row.self = sums->self;
	row.children = sums->children;
	row.samples = sums->samples;
	row.undivided = sums->undivided;
	memcpy(row.modes, sums->modes, sizeof(row.modes));
	return row;
}

static uint64_t total_of(const struct hierarchy *of, uint32_t event)
{
	return of->table->group.count ? of->table->group.totals[event] : of->table->facts.total;
}

static void put_padded(struct tally_buf *to, const struct tally_buf *text, size_t width)
{
	size_t columns = tally_cell_columns((const char *)text->data, text->size);

	tally_cell_spaces(to, columns < width ? width - columns : 0);
	tally_buf_add(to, text->data, text->size);
}

static void put_sum(const struct hierarchy *of, uint32_t line, const struct report_field *field,
		    struct tally_buf *cell, struct tally_buf *one)
{
	tally_buf_clear(cell);
	for (uint32_t event = 0; event < of->events; event++) {
		struct tally_profile_row row = row_of(of, line, event);

		tally_buf_clear(one);
		tally_report_field_text(field, &row, total_of(of, event), one);
		if (event)
			tally_buf_byte(cell, ' ');
		put_padded(cell, one, of->events > 1 ? field->width - 1 : 0);
	}
}

static const char *title_of(const struct report_field *field)
{
	return field->title + strspn(field->title, " ");
}

/* Makes the keys' columns as wide as their widest text. */
static int measure(struct hierarchy *of)
{
	struct tally_buf text = {0};
	int result;

	for (size_t i = of->sums; i < of->table->field_count; i++)
		of->widths[i] = strlen(title_of(&of->table->fields[i]));
	for (uint64_t at = 0; at < of->table->row_count && !text.failed; at++) {
		const struct tally_profile_row row = report_table_row(of->table, at);

		for (size_t i = of->sums; i < of->table->field_count; i++) {
			size_t width;

			tally_buf_clear(&text);
			tally_report_field_text(&of->table->fields[i], &row, of->table->facts.total,
						&text);
			width = tally_cell_columns((const char *)text.data, text.size);
			of->widths[i] = width > of->widths[i] ? width : of->widths[i];
		}
	}
	result = text.failed;
	tally_buf_done(&text);
	return result;
}

/* The keys of a line, shortened where the terminal ends. */
static void put_keys(const struct hierarchy *of, uint32_t line, unsigned depth, size_t used)
{
	const struct tally_report_options *options = of->table->options;
	const struct tally_profile_row row = report_table_row(of->table, of->lines[line].row);
	struct tally_buf text = {0}, cell = {0}, one = {0};
	size_t room = options->width > used + KEY_LEAST ? options->width - used : KEY_LEAST, at = 0;

	for (unsigned i = of->level_first[depth]; i < of->level_first[depth + 1]; i++) {
		size_t start = text.size, width;

		if (of->table->fields[i].key) {
			tally_report_field_text(&of->table->fields[i], &row, of->table->facts.total,
						&text);
		} else {
			put_sum(of, line, &of->table->fields[i], &cell, &one);
			tally_buf_add(&text, cell.data, cell.size);
		}
		if (text.failed || i + 1 == of->level_first[depth + 1])
			break;
		width = tally_cell_columns((const char *)text.data + start, text.size - start);
		if (options->separator)
			tally_buf_text(&text, options->separator);
		else
			tally_cell_spaces(&text, of->widths[i] - width + 2);
	}
	while (!text.failed && at < text.size && text.data[at] == ' ') /* numbers of tasks */
		at++;
	if (text.failed)
		of->to->failed = text.failed;
	else if (options->width && !options->whole_names && !options->separator)
		tally_shorten(of->to, (const char *)text.data + at, text.size - at, room);
	else
		tally_buf_add(of->to, text.data + at, text.size - at);
	tally_buf_done(&text);
	tally_buf_done(&cell);
	tally_buf_done(&one);
}

static bool is_shown(const struct hierarchy *of, uint32_t line)
{
	double least = of->table->options->percent_limit * (double)total_of(of, 0) / 100;

	return (double)of->values[(size_t)line * of->events].children >= least;
}

static void put_line(const struct hierarchy *of, uint32_t line, unsigned depth)
{
	const struct tally_report_options *options = of->table->options;
	struct tally_buf cell = {0}, one = {0};
	size_t start = of->to->size, tints = 0;

	tally_cell_spaces(of->to, (size_t)depth * INDENT);
	for (unsigned i = 0; i < of->sums; i++) {
		const struct report_field *field = &of->table->fields[i];
		struct tally_profile_row row = row_of(of, line, 0);
		bool tinted = false;

		put_sum(of, line, field, &cell, &one);
		if (cell.failed)
			of->to->failed = cell.failed;
		if (options->separator && i)
			tally_buf_text(of->to, options->separator);
		if (field->share) {
			size_t before = of->to->size;

			tinted = tally_cell_tint(
			    of->to,
			    tally_cell_share(report_field_sum(field, &row), total_of(of, 0)),
			    options->colour);
			tints += of->to->size - before;
		}
		if (options->separator)
			tally_buf_add(of->to, cell.data, cell.size);
		else
			put_padded(of->to, &cell, 2 + field->width * of->events);
		tally_cell_plain(of->to, tinted);
	}
	if (options->separator)
		tally_buf_text(of->to, options->separator);
	else
		tally_cell_spaces(of->to, 2 + indent_of(of));
	put_keys(of, line, depth, of->to->size - start - tints);
	tally_buf_byte(of->to, '\n');
	tally_buf_done(&cell);
	tally_buf_done(&one);
}

static int put_tree(const struct hierarchy *of, uint32_t line)
{
	size_t before = of->to->size;
	int result = of->tree(of->context, of->lines[line].row, of->to);

	if (!result && of->to->size > before)
		tally_buf_byte(of->to, '\n');
	return result;
}

static int put_lines(const struct hierarchy *of, uint32_t first, uint32_t count, unsigned depth)
{
	uint32_t *order = malloc(((size_t)count + 1) * sizeof(*order));
	uint32_t shown = 0;
	int result = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; order && i < count; i++)
		order[i] = first + i;
	if (order)
		qsort_r(order, count, sizeof(*order), by_size, (void *)(uintptr_t)of);
	for (uint32_t i = 0; i < count && !result; i++) {
		const struct line *line = &of->lines[order[i]];

		if (!is_shown(of, order[i]))
			continue;
		shown++;
		put_line(of, order[i], depth);
		if (line->count)
			result = put_lines(of, line->first, line->count, depth + 1);
		else if (of->tree)
			result = put_tree(of, order[i]);
		if (!result && of->to->size >= FLUSH_SIZE)
			result = tally_report_write_out(of->to, of->file);
	}
	if (!result && !shown && depth) {
		/* where the keys of these lines would be */
		size_t column = (size_t)depth * INDENT + indent_of(of) + 2;

		for (unsigned i = 0; i < of->sums; i++)
			column += 2 + of->table->fields[i].width * of->events;
		tally_cell_spaces(of->to, column);
		tally_buf_printf(of->to, "no entry >= %.2f%%\n", of->table->options->percent_limit);
	}
	free(order);
	return result;
}

/* How wide the lines' keys are, with their indentation. */
static size_t keys_width(const struct hierarchy *of)
{
	size_t widest = 0;

	for (unsigned level = 0; level < of->levels; level++) {
		size_t width = (size_t)level * INDENT;

		for (unsigned i = of->level_first[level]; i < of->level_first[level + 1]; i++)
			width += of->widths[i] + (i > of->level_first[level] ? 2 : 0);
		widest = width > widest ? width : widest;
	}
	return widest;
}

static void put_dots(struct tally_buf *to, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tally_buf_byte(to, '.');
}

static void put_titles(const struct hierarchy *of)
{
	const struct report_table *table = of->table;
	const char *separator = table->options->separator;
	struct tally_buf *to = of->to;
	size_t start, sums = 0, dots;

	tally_buf_text(to, "# ");
	if (!separator)
		tally_cell_spaces(to, indent_of(of));
	for (unsigned i = 0; i < of->sums; i++) {
		const struct report_field *field = &table->fields[i];
		size_t width = field->width * of->events, length = strlen(field->title);

		if (i)
			tally_buf_text(to, separator ? separator : "  ");
		if (!separator)
			tally_cell_spaces(to, width > length ? width - length : 0);
		tally_buf_text(to, field->title);
		sums += width + (i ? 2 : 0);
	}
	tally_buf_text(to, separator ? separator : "  ");
	start = to->size;
	for (unsigned level = 0; level < of->levels; level++) {
		if (level)
			tally_buf_text(to, " / ");
		for (unsigned i = of->level_first[level]; i < of->level_first[level + 1]; i++) {
			if (i > of->level_first[level])
				tally_buf_byte(to, '+');
			tally_buf_text(to, title_of(&table->fields[i]));
		}
	}
	dots = to->size - start;
	tally_buf_byte(to, '\n');
	if (separator)
		return;
	dots = dots < keys_width(of) ? keys_width(of) : dots;
	tally_buf_text(to, "# ");
	put_dots(to, sums + indent_of(of));
	tally_buf_text(to, "  ");
	put_dots(to, table->options->width && dots > table->options->width / 2
			 ? table->options->width / 2
			 : dots);
	tally_buf_text(to, "\n#\n");
}

int tally_report_hierarchy(const struct report_table *table, report_tree_fn tree, void *context,
			   struct tally_buf *to, FILE *file)
{
	struct hierarchy of = {.table = table,
			       .events = table->group.count ? table->group.count : 1,
			       .tree = tree,
			       .context = context,
			       .to = to,
			       .file = file};
	uint32_t first = 0, count = 0;
	int result = 0;

	find_levels(&of);
	of.rows = malloc((table->row_count + 1) * sizeof(*of.rows));
	if (!of.rows)
		return -ENOMEM;
	for (uint64_t i = 0; i < table->row_count; i++)
		of.rows[i] = i;
	qsort_r(of.rows, table->row_count, sizeof(*of.rows), by_keys, &of);
	if (!table->options->separator)
		result = measure(&of);
	if (!result && !table->options->quiet)
		put_titles(&of);
	if (of.levels && !result)
		result = make_lines(&of, 0, 0, table->row_count, &first, &count);
	if (!result)
		result = put_lines(&of, first, count, 0);
	if (!result)
		result = tally_report_write_out(to, file);
	free(of.rows);
	free(of.lines);
	free(of.values);
	return result;
}
