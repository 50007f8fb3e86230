#include "report/report_columns.h"

#include <stdlib.h>
#include <string.h>
#include "base/cell.h"
#include "report/report_frame.h"

#define LAST_LEAST   16 /* columns that the last column keeps however narrow the terminal is */
#define LAST_WANTED  32 /* and at whose cost others become narrower, down to NAME_WANTED */
#define NAME_WANTED  17 /* [kernel.kallsyms] */
#define NAME_LEAST   10 /* that other columns of names keep */
#define NUMBER_WIDTH 8  /* of percentages; of counts 12: perf's */
#define COUNT_WIDTH  12
#define TASK_WIDTH   7 /* a pid's digits */

static void add_column(struct report_columns *columns, struct report_column column)
{
	column.width = strlen(column.title);
	if (column.kind == COLUMN_CHILDREN || column.kind == COLUMN_SELF)
		column.width = NUMBER_WIDTH;
	if (column.kind == COLUMN_SAMPLES || column.kind == COLUMN_PERIOD)
		column.width = COUNT_WIDTH;
	columns->list[columns->count++] = column;
}

static void add_key(struct report_columns *columns, enum tally_key key)
{
	static const char *const titles[] = {
	    [TALLY_KEY_COMM] = "Command",        [TALLY_KEY_DSO] = "Shared Object",
	    [TALLY_KEY_SYMBOL] = "Symbol",       [TALLY_KEY_PID] = "    Pid:Command",
	    [TALLY_KEY_TID] = "    Tid:Command", [TALLY_KEY_CPU] = "CPU",
	};

	add_column(columns, (struct report_column){COLUMN_KEY, .key = key, .title = titles[key],
						   .right = key == TALLY_KEY_CPU});
}

static void add_number(struct report_columns *columns, enum report_column_kind kind,
		       const char *title)
{
	add_column(columns, (struct report_column){kind, .title = title, .right = true});
}

static void add_wanted(struct report_columns *columns, const struct tally_report_column *wanted)
{
	switch (wanted->field) {
	case TALLY_FIELD_OVERHEAD:
		add_number(columns, COLUMN_SELF, "Overhead");
		break;
	case TALLY_FIELD_CHILDREN:
		add_number(columns, COLUMN_CHILDREN, "Children");
		break;
	case TALLY_FIELD_SAMPLES:
		add_number(columns, COLUMN_SAMPLES, "Samples");
		break;
	case TALLY_FIELD_PERIOD:
		add_number(columns, COLUMN_PERIOD, "Period");
		break;
	case TALLY_FIELD_KEY:
		add_key(columns, wanted->key);
		break;
	}
}

void tally_report_columns_choose(struct report_columns *columns,
				 const struct tally_profile *profile, uint64_t total,
				 const struct tally_report_options *options)
{
	size_t count;
	const enum tally_key *keys = tally_profile_keys(profile, &count);
	bool children = tally_profile_has_children(profile);

	*columns = (struct report_columns){.options = options, .total = total};
	for (size_t i = 0; i < options->column_count; i++)
		add_wanted(columns, &options->columns[i]);
	if (options->column_count)
		return;
	if (children)
		add_number(columns, COLUMN_CHILDREN, "Children");
	add_number(columns, COLUMN_SELF, children ? "Self" : "Overhead");
	if (options->show_samples)
		add_number(columns, COLUMN_SAMPLES, "Samples");
	if (options->show_total_period)
		add_number(columns, COLUMN_PERIOD, "Period");
	for (size_t i = 0; i < count; i++)
		add_key(columns, keys[i]);
}

static void put_task(struct tally_buf *to, uint32_t number, const char *comm)
{
	size_t before = to->size, digits;

	tally_cell_u64(to, number);
	digits = to->size - before;
	if (digits < TASK_WIDTH) { /* right-aligned in front of its name */
		to->size = before;
		tally_cell_spaces(to, TASK_WIDTH - digits);
		tally_cell_u64(to, number);
	}
	tally_buf_byte(to, ':');
	tally_cell_name(to, comm);
}

static void put_key(struct tally_buf *to, enum tally_key key, const struct tally_profile_row *row)
{
	switch (key) {
	case TALLY_KEY_COMM:
		tally_cell_name(to, row->comm);
		break;
	case TALLY_KEY_DSO:
		tally_cell_name(to, row->frame.image_name);
		break;
	case TALLY_KEY_SYMBOL:
		tally_report_symbol(to, &row->frame);
		break;
	case TALLY_KEY_PID:
		put_task(to, row->pid, row->comm);
		break;
	case TALLY_KEY_TID:
		put_task(to, row->tid, row->comm);
		break;
	case TALLY_KEY_CPU:
		if (row->cpu == UINT32_MAX) /* the samples do not tell */
			tally_buf_byte(to, '-');
		else
			tally_cell_padded(to, row->cpu, 3);
		break;
	}
}

static struct report_cell_source source_of(const struct report_column *column,
					   const struct tally_profile_row *row)
{
	switch (column->kind) {
	case COLUMN_CHILDREN:
		return (struct report_cell_source){.number = row->children};
	case COLUMN_SAMPLES:
		return (struct report_cell_source){.number = row->samples};
	case COLUMN_SELF:
	case COLUMN_PERIOD:
		return (struct report_cell_source){.number = row->self};
	case COLUMN_KEY:
		break;
	}
	switch (column->key) {
	case TALLY_KEY_COMM:
		return (struct report_cell_source){.name = row->comm};
	case TALLY_KEY_DSO:
		return (struct report_cell_source){.name = row->frame.image_name};
	case TALLY_KEY_SYMBOL:
		return (struct report_cell_source){
		    .name = row->frame.symbol,
		    .number = row->frame.symbol
				  ? (uint64_t)row->frame.inlined << 8 | (uint8_t)row->frame.level
				  : row->frame.place};
	case TALLY_KEY_PID:
		return (struct report_cell_source){.name = row->comm, .number = row->pid};
	case TALLY_KEY_TID:
		return (struct report_cell_source){.name = row->comm, .number = row->tid};
	case TALLY_KEY_CPU:
		break;
	}
	return (struct report_cell_source){.number = row->cpu};
}

/* The column's text becomes that of the row's cell; true when it was already. */
static bool make_cell(const struct report_columns *columns, struct report_column *column,
		      const struct tally_profile_row *row)
{
	struct report_cell_source source = source_of(column, row);
	/* Without a symbol the level of equal places may differ. */
	bool may_same = column->key != TALLY_KEY_SYMBOL || source.name;

	if (column->made && may_same && source.name == column->source.name &&
	    source.number == column->source.number)
		return true;
	tally_buf_clear(&column->text);
	switch (column->kind) {
	case COLUMN_CHILDREN:
		tally_cell_percent(&column->text, tally_cell_share(row->children, columns->total));
		break;
	case COLUMN_SELF:
		tally_cell_percent(&column->text, tally_cell_share(row->self, columns->total));
		break;
	case COLUMN_SAMPLES:
		tally_cell_u64(&column->text, row->samples);
		break;
	case COLUMN_PERIOD:
		tally_cell_u64(&column->text, row->self);
		break;
	case COLUMN_KEY:
		put_key(&column->text, column->key, row);
		break;
	}
	column->columns = tally_cell_columns((char *)column->text.data, column->text.size);
	column->source = source;
	column->made = true;
	return false;
}

int tally_report_columns_hold(struct report_columns *columns, const struct tally_profile_row *row)
{
	for (size_t k = 0; k < columns->count; k++) {
		struct report_column *column = &columns->list[k];

		/* A place without a name is 22 columns wide: "[.] 0x" and 16 digits. */
		if (column->kind == COLUMN_KEY && column->key == TALLY_KEY_SYMBOL &&
		    !row->frame.symbol && !row->frame.function && column->width >= 22)
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

/* The widest column of names but the last, or NULL when all are as narrow as `least`. */
static struct report_column *widest_name(struct report_columns *columns, size_t least)
{
	struct report_column *widest = NULL;

	for (size_t i = 0; i + 1 < columns->count; i++) {
		struct report_column *column = &columns->list[i];

		if (column->kind == COLUMN_KEY && column->width > least &&
		    (!widest || column->width > widest->width))
			widest = column;
	}
	return widest;
}

/* Makes other columns of names narrower, down to `least`, until the last one has `wanted`.  What
 * the last one has then. */
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

/* The last column gives way to a narrow terminal, and so do the widest others: what is too long is
 * cut there. */
void tally_report_columns_fit(struct report_columns *columns)
{
	struct report_column *last = &columns->list[columns->count - 1];
	size_t room;

	if (!columns->options->width || last->kind != COLUMN_KEY)
		return;
	make_room(columns, last->width < LAST_WANTED ? last->width : LAST_WANTED, NAME_WANTED);
	room = make_room(columns, LAST_LEAST, NAME_LEAST);
	if (room < LAST_LEAST)
		room = LAST_LEAST;
	if (last->width > room)
		last->width = room;
}

/* The bytes of "+0x15a20" at the end of a name; 0: it ends otherwise. */
static size_t offset_size(const char *text, size_t size)
{
	size_t at = size;

	while (at && strchr("0123456789abcdef", text[at - 1]))
		at--;
	return at < size && at >= 3 && !memcmp(text + at - 3, "+0x", 3) ? size - at + 3 : 0;
}

/* An address within a binary stays whole: it, not the binary's name, says which function it is. */
static void put_cut(const struct report_column *column, struct tally_buf *to)
{
	const char *text = (const char *)column->text.data;
	size_t tail = offset_size(text, column->text.size), room = column->width - 3;

	if (tail > room)
		tail = 0;
	tally_buf_add(to, text, tally_cell_cut(text, column->text.size, room - tail));
	tally_buf_add(to, "...", 3);
	tally_buf_add(to, text + column->text.size - tail, tail);
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
	if (column->kind == COLUMN_CHILDREN || column->kind == COLUMN_SELF)
		tinted = tally_cell_tint(to, hundredths, columns->options->colour);
	if (column->columns > column->width)
		put_cut(column, to);
	else
		tally_buf_add(to, text, column->text.size);
	tally_cell_plain(to, tinted);
	if (!column->right && !last)
		tally_cell_spaces(to, pad);
}

/* A separator within a cell would begin a further one: '.' in its place, and as perf does it for
 * the first character of a longer one.  Source: repsep_snprintf() of perf 6.1's util/sort.c. */
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

int tally_report_columns_row(struct report_columns *columns, const struct tally_profile_row *row,
			     struct tally_buf *to)
{
	const char *separator = columns->options->separator;

	for (size_t k = 0; k < columns->count; k++) {
		struct report_column *column = &columns->list[k];
		uint64_t part = column->kind == COLUMN_CHILDREN ? row->children : row->self;

		make_cell(columns, column, row);
		if (column->text.failed)
			return column->text.failed;
		if (!separator) {
			put_cell(columns, to, k,
				 columns->options->colour ? tally_cell_share(part, columns->total)
							  : 0);
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
		size_t length = strlen(column->title), pad = 0;

		tally_buf_text(to, !k ? " " : separator ? separator : "  ");
		if (column->width < length && !separator)
			length = column->width;
		else if (!separator)
			pad = column->width - length;
		if (column->right)
			tally_cell_spaces(to, pad);
		tally_buf_add(to, column->title, length);
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
