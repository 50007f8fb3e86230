#include "report/report_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/cell.h"
#include "report/shorten.h"

#define LAST_LEAST 16 /* columns that the last column keeps on any terminal */
#define LAST_WANTED \
	32 /* other columns become narrower, down to NAME_WANTED, to give it this width */
#define NAME_WANTED 17    /* [kernel.kallsyms] */
#define NAME_LEAST  10    /* columns that other names keep */
#define CLASH_ROWS  4096U /* rows whose short names are compared: nobody reads more of them */

void tally_report_columns_init(struct report_columns *columns, const struct report_table *table)
{
	*columns = (struct report_columns){.options = table->options, .total = table->facts.total};
	if (table->group.count)
		columns->group = &table->group;
	for (size_t i = 0; i < table->field_count; i++) {
		const struct report_field *field = &table->fields[i];
		size_t events;

		/* As in perf, an event has columns of its own fields alone. */
		if (field->key && !columns->group && !profile_key_is_of(field->key, table->event))
			continue;
		events = columns->group && report_field_is_sum(field) ? columns->group->count : 1;

		columns->list[columns->count++] = (struct report_column){
		    .field = *field,
		    .width = field->width * events,
		    .right = report_field_is_sum(field) ||
			     (field->key && field->key->type == KEY_NUMBER && !field->key->left),
		};
	}
}

static bool is_symbol(const struct report_column *column)
{
	return column->field.key && column->field.key->type == KEY_SYMBOL;
}

/* "[.] " before the name of a function. */
#define LEVEL 4U

static bool is_function(const struct report_column *column)
{
	return is_symbol(column) || (column->field.key && column->field.key->type == KEY_FRAME);
}

/* Makes the text of the row's cell; true: it is the same as that of the last row. */
static bool make_cell(const struct report_columns *columns, struct report_column *column,
		      const struct tally_profile_row *row)
{
	struct report_field_source source = report_field_source(&column->field, row);
	/* Without a symbol, the level of equal addresses may differ. */
	bool may_same = source.name || !is_symbol(column);

	bool grouped = columns->group && report_field_is_sum(&column->field);

	if (column->made && may_same && !grouped && source.name == column->source.name &&
	    source.number == column->source.number)
		return true;
	tally_buf_clear(&column->text);
	if (grouped)
		tally_report_group_text(columns->group, &column->field, columns->at, &column->text);
	else
		tally_report_field_text(&column->field, row, columns->total, &column->text);
	column->columns = tally_cell_columns((char *)column->text.data, column->text.size);
	column->source = source;
	column->made = true;
	return false;
}

int tally_report_columns_hold(struct report_columns *columns, const struct tally_profile_row *row)
{
	for (size_t k = 0; k < columns->count; k++) {
		struct report_column *column = &columns->list[k];

		/* An address without a name is 22 columns wide: "[.] 0x" and 16 digits. */
		if (is_symbol(column) && !row->frame.symbol && !row->frame.function &&
		    column->width >= 22)
			continue;
		if (make_cell(columns, column, row))
			continue;
		if (column->text.failed)
			return column->text.failed;
		if (column->columns > column->width)
			column->width = column->columns;
	}
	return 0;
}

void tally_report_columns_copy(struct report_columns *columns, const struct report_columns *from)
{
	*columns = *from;
	for (size_t k = 0; k < columns->count; k++) {
		columns->list[k].text = (struct tally_buf){0};
		columns->list[k].made = false;
	}
}

void tally_report_columns_done(struct report_columns *columns)
{
	for (size_t k = 0; k < columns->count; k++)
		tally_buf_done(&columns->list[k].text);
}

/* The widest column of names, without the last one; NULL: all are as narrow as `least`. */
static struct report_column *widest_name(struct report_columns *columns, size_t least)
{
	struct report_column *widest = NULL;

	for (size_t i = 0; i + 1 < columns->count; i++) {
		struct report_column *column = &columns->list[i];

		if (column->field.key && column->width > least &&
		    (!widest || column->width > widest->width))
			widest = column;
	}
	return widest;
}

/* Makes other columns of names narrower, down to `least`, until the last one has the width
 * `wanted`. Returns the width that the last one has then. */
static size_t make_room(struct report_columns *columns, size_t wanted, size_t least)
{
	size_t used = 0, width = columns->options->width;
	struct report_column *widest;

	for (size_t i = 0; i < columns->count; i++)
		used += 2 + (i + 1 < columns->count ? columns->list[i].width : 0);
	while (used + wanted > width && (widest = widest_name(columns, least))) {
		widest->width--;
		used--;
	}
	return width > used ? width - used : 0;
}

/* On a narrow terminal the last column and the widest other ones become narrower, and longer text
 * is cut. */
static void fit_to_terminal(struct report_columns *columns)
{
	struct report_column *last = &columns->list[columns->count - 1];
	size_t room;

	if (!columns->options->width || !last->field.key || columns->options->whole_names)
		return;
	make_room(columns, last->width < LAST_WANTED ? last->width : LAST_WANTED, NAME_WANTED);
	room = make_room(columns, LAST_LEAST, NAME_LEAST);
	if (room < LAST_LEAST)
		room = LAST_LEAST;
	if (last->width > room)
		last->width = room;
}

/* The length of "+0x15a20" at the end of a name; 0: the name does not end so. */
static size_t offset_size(const char *text, size_t size)
{
	size_t at = size;

	while (at && strchr("0123456789abcdef", text[at - 1]))
		at--;
	return at < size && at >= 3 && !memcmp(text + at - 3, "+0x", 3) ? size - at + 3 : 0;
}

/* An address within a binary is not cut, as it identifies the function: the binary's name is cut
 * instead. */
static void put_cut(const struct report_columns *columns, const struct report_column *column,
		    struct tally_buf *to)
{
	const char *text = (const char *)column->text.data;
	size_t size = column->text.size, width = column->width, room,
	       tail = offset_size(text, size);
	const uint64_t *clash;

	if (width <= 3) {
		tally_buf_add(to, text, tally_cell_cut(text, size, width));
		return;
	}
	if (!tail && is_function(column) && width > LEVEL + 3) {
		clash = columns->clashes
			    ? tally_map_find(columns->clashes, tally_hash_bytes(text, size))
			    : NULL;
		tally_buf_add(to, text, LEVEL);
		if (clash)
			tally_shorten_around(to, text + LEVEL, size - LEVEL, width - LEVEL,
					     (size_t)*clash - LEVEL);
		else
			tally_shorten(to, text + LEVEL, size - LEVEL, width - LEVEL);
		return;
	}
	room = width - 3;
	if (tail > room)
		tail = 0;
	tally_buf_add(to, text, tally_cell_cut(text, size, room - tail));
	tally_buf_add(to, "...", 3);
	tally_buf_add(to, text + column->text.size - tail, tail);
}

/* Widths that were given stay, whatever the terminal. */
static void give_widths(struct report_columns *columns)
{
	const struct tally_report_options *options = columns->options;

	for (size_t i = 0; i < columns->count && i < options->column_width_count; i++)
		if (options->column_widths[i])
			columns->list[i].width = options->column_widths[i];
}

void tally_report_columns_fit(struct report_columns *columns)
{
	fit_to_terminal(columns);
	give_widths(columns);
}

/* Where two names begin to differ. */
static size_t common(const struct tally_buf *a, const struct tally_buf *b)
{
	size_t at = 0;

	while (at < a->size && at < b->size && a->data[at] == b->data[at])
		at++;
	while (at && (a->data[at] & 0xc0) == 0x80) /* the start of a character */
		at--;
	return at;
}

static int note_clash(struct tally_map *clashes, const struct tally_buf *name, size_t at)
{
	bool added;
	uint64_t *place = tally_map_put(clashes, tally_hash_bytes(name->data, name->size), &added);

	if (!place)
		return -ENOMEM;
	if (added || *place < at)
		*place = at;
	return 0;
}

/* Looks at the short form of a row's name; `seen` has the row of each form. */
static int look_for_clash(struct report_columns *columns, const struct report_table *table,
			  struct report_column *column, uint64_t at, struct tally_map *seen,
			  struct tally_map *ret)
{
	struct tally_profile_row row = report_table_row(table, at);
	struct tally_buf form = {0}, other = {0};
	uint64_t *place;
	bool added;
	int result = 0;

	make_cell(columns, column, &row);
	if (column->columns <= column->width)
		return column->text.failed;
	put_cut(columns, column, &form);
	place = tally_map_put(seen, tally_hash_bytes(form.data, form.size), &added);
	if (form.failed || !place)
		result = -ENOMEM;
	if (!result && added)
		*place = at;
	if (!result && !added) {
		row = report_table_row(table, *place);
		tally_report_field_text(&column->field, &row, columns->total, &other);
		result = other.failed;
	}
	if (!result && other.size &&
	    (other.size != column->text.size ||
	     memcmp(other.data, column->text.data, other.size) != 0)) {
		size_t from = common(&other, &column->text);

		result = note_clash(ret, &other, from);
		if (!result)
			result = note_clash(ret, &column->text, from);
	}
	tally_buf_done(&form);
	tally_buf_done(&other);
	return result;
}

int tally_report_columns_clashes(struct report_columns *columns, const struct report_table *table,
				 struct tally_map *ret)
{
	uint64_t count = table->row_count < CLASH_ROWS ? table->row_count : CLASH_ROWS;
	int result = 0;

	columns->clashes = NULL;
	for (size_t k = 0; k < columns->count && !result; k++) {
		struct report_column *column = &columns->list[k];
		struct tally_map seen = {0};

		for (uint64_t i = 0; i < count && is_function(column) && !result; i++)
			result = look_for_clash(columns, table, column, i, &seen, ret);
		tally_map_done(&seen);
		column->made = false;
	}
	columns->clashes = ret;
	return result;
}

/* The share decides the colour. */
static void put_cell(const struct report_columns *columns, struct tally_buf *to, size_t index,
		     uint64_t hundredths)
{
	const struct report_column *column = &columns->list[index];
	const char *text = (const char *)column->text.data;
	size_t pad = column->columns < column->width ? column->width - column->columns : 0;
	bool last = index + 1 == columns->count, tinted = false;

	tally_cell_spaces(to, 2 + (column->right ? pad : 0));
	if (column->field.share)
		tinted = tally_cell_tint(to, hundredths, columns->options->colour);
	if (column->columns > column->width)
		put_cut(columns, column, to);
	else
		tally_buf_add(to, text, column->text.size);
	tally_cell_plain(to, tinted);
	if (!column->right && !last)
		tally_cell_spaces(to, pad);
}

/* A separator within a cell would begin another cell, so it becomes '.'; of a longer separator the
 * first character does, as in perf.  Source: repsep_snprintf() of perf 6.1's util/sort.c. */
static void put_separated(const struct tally_buf *cell, const char *separator, struct tally_buf *to)
{
	const char *text = (const char *)cell->data;
	size_t length = *separator & 0x80 ? strlen(separator) : 1; /* characters stay whole */

	for (size_t i = 0; i < cell->size;) {
		bool within =
		    length && length <= cell->size - i && !memcmp(text + i, separator, length);

		tally_buf_byte(to, within ? '.' : cell->data[i]);
		i += within ? length : 1;
	}
}

static uint64_t share_of(const struct report_columns *columns, size_t index,
			 const struct tally_profile_row *row)
{
	const struct report_field *field = &columns->list[index].field;

	return field->share ? tally_cell_share(report_field_sum(field, row),
					       report_field_whole(field, columns->total))
			    : 0;
}

int tally_report_columns_row(struct report_columns *columns, const struct tally_profile_row *row,
			     struct tally_buf *to)
{
	const char *separator = columns->options->separator;

	for (size_t k = 0; k < columns->count; k++) {
		struct report_column *column = &columns->list[k];

		make_cell(columns, column, row);
		if (column->text.failed)
			return column->text.failed;
		if (!separator) {
			put_cell(columns, to, k,
				 columns->options->colour ? share_of(columns, k, row) : 0);
			continue;
		}
		if (k)
			tally_buf_text(to, separator);
		put_separated(&column->text, separator, to);
	}
	tally_buf_byte(to, '\n');
	return 0;
}

void tally_report_columns_titles(const struct report_columns *columns, struct tally_buf *to)
{
	const char *separator = columns->options->separator;

	tally_buf_byte(to, '#');
	for (size_t k = 0; k < columns->count; k++) {
		const struct report_column *column = &columns->list[k];
		size_t length = strlen(column->field.title), pad = 0;

		tally_buf_text(to, !k ? " " : separator ? separator : "  ");
		if (column->width < length && !separator)
			length = column->width;
		else if (!separator)
			pad = column->width - length;
		if (column->right)
			tally_cell_spaces(to, pad);
		tally_buf_add(to, column->field.title, length);
		if (!column->right && k + 1 < columns->count)
			tally_cell_spaces(to, pad);
	}
	tally_buf_byte(to, '\n');
	if (separator)
		return;
	tally_buf_byte(to, '#');
	for (size_t k = 0; k < columns->count; k++) {
		tally_buf_text(to, k ? "  " : " ");
		for (size_t i = 0; i < columns->list[k].width; i++)
			tally_buf_byte(to, '.');
	}
	tally_buf_text(to, "\n#\n");
}
