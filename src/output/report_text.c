/* The report as text: header lines, a table of rows, trees below them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/report.h>
#include "base/buf.h"
#include "base/options.h"
#include "base/pool.h"
#include "output/cell.h"
#include "output/report_tree.h"

#define COLUMNS_MOST 12
#define LAST_LEAST   16 /* columns that the last column keeps however narrow the terminal is */
#define NUMBER_WIDTH 8  /* of percentages; of counts 12: perf's */
#define COUNT_WIDTH  12
#define TASK_WIDTH   7 /* a pid's digits */
#define TREE_BATCH   32
#define FLUSH_SIZE   ((size_t)1 << 16)

enum column_kind {
	COLUMN_CHILDREN,
	COLUMN_SELF,
	COLUMN_SAMPLES,
	COLUMN_PERIOD,
	COLUMN_KEY,
};

/* All that the text of a cell depends on. */
struct cell_source {
	const void *name;
	uint64_t number;
};

struct column {
	enum column_kind kind;
	enum tally_key key; /* of COLUMN_KEY */
	const char *title;
	size_t width;
	bool right; /* aligned to its right end */
	/* The last cell and what it was made of: rows that stand together are much alike. */
	struct cell_source source;
	struct tally_buf text;
	size_t columns; /* that the text takes */
	bool made;
};

struct table {
	const struct tally_profile *profile;
	const struct tally_report_options *options;
	size_t event;
	struct tally_profile_event told;
	struct column columns[COLUMNS_MOST];
	size_t column_count;
	uint64_t row_count;      /* shown */
	uint64_t tree_count;     /* rows that have a tree come first */
	struct tally_buf *trees; /* of the rows from tree_first on, a batch of them */
	uint64_t tree_first;
};

static void add_column(struct table *table, struct column column)
{
	column.width = strlen(column.title);
	if (column.kind == COLUMN_CHILDREN || column.kind == COLUMN_SELF)
		column.width = NUMBER_WIDTH;
	if (column.kind == COLUMN_SAMPLES || column.kind == COLUMN_PERIOD)
		column.width = COUNT_WIDTH;
	table->columns[table->column_count++] = column;
}

static void choose_columns(struct table *table)
{
	static const char *const titles[] = {
	    [TALLY_KEY_COMM] = "Command",        [TALLY_KEY_DSO] = "Shared Object",
	    [TALLY_KEY_SYMBOL] = "Symbol",       [TALLY_KEY_PID] = "    Pid:Command",
	    [TALLY_KEY_TID] = "    Tid:Command", [TALLY_KEY_CPU] = "CPU",
	};
	size_t count;
	const enum tally_key *keys = tally_profile_keys(table->profile, &count);
	bool children = tally_profile_has_children(table->profile);

	if (children)
		add_column(table,
			   (struct column){COLUMN_CHILDREN, .title = "Children", .right = true});
	add_column(table, (struct column){COLUMN_SELF, .title = children ? "Self" : "Overhead",
					  .right = true});
	if (table->options->show_samples)
		add_column(table,
			   (struct column){COLUMN_SAMPLES, .title = "Samples", .right = true});
	if (table->options->show_total_period)
		add_column(table, (struct column){COLUMN_PERIOD, .title = "Period", .right = true});
	for (size_t i = 0; i < count; i++)
		add_column(table,
			   (struct column){COLUMN_KEY, .key = keys[i], .title = titles[keys[i]],
					   .right = keys[i] == TALLY_KEY_CPU});
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
		tally_cell_symbol(to, &row->frame);
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

static struct cell_source source_of(const struct column *column,
				    const struct tally_profile_row *row)
{
	switch (column->kind) {
	case COLUMN_CHILDREN:
		return (struct cell_source){.number = row->children};
	case COLUMN_SAMPLES:
		return (struct cell_source){.number = row->samples};
	case COLUMN_SELF:
	case COLUMN_PERIOD:
		return (struct cell_source){.number = row->self};
	case COLUMN_KEY:
		break;
	}
	switch (column->key) {
	case TALLY_KEY_COMM:
		return (struct cell_source){.name = row->comm};
	case TALLY_KEY_DSO:
		return (struct cell_source){.name = row->frame.image_name};
	case TALLY_KEY_SYMBOL:
		return (struct cell_source){.name = row->frame.symbol,
					    .number = row->frame.symbol ? (uint8_t)row->frame.level
									: row->frame.place};
	case TALLY_KEY_PID:
		return (struct cell_source){.name = row->comm, .number = row->pid};
	case TALLY_KEY_TID:
		return (struct cell_source){.name = row->comm, .number = row->tid};
	case TALLY_KEY_CPU:
		break;
	}
	return (struct cell_source){.number = row->cpu};
}

/* The column's text becomes that of the row's cell; true when it was already. */
static bool make_cell(const struct table *table, struct column *column,
		      const struct tally_profile_row *row)
{
	struct cell_source source = source_of(column, row);
	/* Without a symbol the level of equal places may differ. */
	bool may_same = column->key != TALLY_KEY_SYMBOL || source.name;

	if (column->made && may_same && source.name == column->source.name &&
	    source.number == column->source.number)
		return true;
	tally_buf_clear(&column->text);
	switch (column->kind) {
	case COLUMN_CHILDREN:
		tally_cell_percent(&column->text,
				   tally_cell_share(row->children, table->told.total));
		break;
	case COLUMN_SELF:
		tally_cell_percent(&column->text, tally_cell_share(row->self, table->told.total));
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

/* Rows come largest first, so those below the limit are the last. */
static uint64_t count_shown(const struct table *table)
{
	double whole = (double)table->told.total, least = table->options->percent_limit;
	uint64_t low = 0, high = table->told.row_count;

	while (least > 0 && low < high) {
		uint64_t middle = low + (high - low) / 2;
		struct tally_profile_row row =
		    tally_profile_row(table->profile, table->event, middle);

		if (100.0 * (double)row.children < least * whole)
			high = middle;
		else
			low = middle + 1;
	}
	return least > 0 ? low : high;
}

/* Widths are those of the longest cells. The last column's matters for the line below its title
 * only, but there too. */
static int find_widths(struct table *table)
{
	if (table->options->separator)
		return 0;
	for (uint64_t i = 0; i < table->row_count; i++) {
		struct tally_profile_row row = tally_profile_row(table->profile, table->event, i);

		for (size_t k = 0; k < table->column_count; k++) {
			struct column *column = &table->columns[k];

			/* A place without a name is 22 columns wide: "[.] 0x" and 16 digits. */
			if (column->kind == COLUMN_KEY && column->key == TALLY_KEY_SYMBOL &&
			    !row.frame.symbol && column->width >= 22)
				continue;
			if (make_cell(table, column, &row))
				continue;
			if (column->text.failed)
				return column->text.failed;
			if (column->columns > column->width)
				column->width = column->columns;
		}
	}
	return 0;
}

/* The last column gives way to a narrow terminal: what is too long is cut there. */
static void fit_width(struct table *table)
{
	struct column *last = &table->columns[table->column_count - 1];
	size_t used = 0, room;

	if (!table->options->width || last->kind != COLUMN_KEY)
		return;
	for (size_t i = 0; i < table->column_count; i++)
		used += 2 + (i + 1 < table->column_count ? table->columns[i].width : 0);
	room = table->options->width > used ? table->options->width - used : 0;
	if (room < LAST_LEAST)
		room = LAST_LEAST;
	if (last->width > room)
		last->width = room;
}

static int make_tree(void *context, unsigned thread, size_t index)
{
	struct table *table = context;
	const struct tally_report_options *options = table->options;
	struct tally_profile_row row =
	    tally_profile_row(table->profile, table->event, table->tree_first + index);
	struct tally_tree_options wanted = {.size = sizeof(wanted), .order = options->order};
	struct tally_tree tree;
	double least = options->tree_least / 100.0 * (double)table->told.total;
	int result;

	(void)thread;
	wanted.least = least <= 0 ? 0 : least >= 0x1p64 ? UINT64_MAX : (uint64_t)least;
	if ((double)wanted.least < least)
		wanted.least++;
	result = tally_profile_tree(table->profile, table->event, &row, &wanted, &tree);
	if (result)
		return result;
	tally_report_tree(&table->trees[index], &tree, table->told.total, options);
	tally_tree_done(&tree);
	return table->trees[index].failed;
}

/* A row that is smaller than the least branch has no tree. */
static void count_trees(struct table *table)
{
	struct table above = *table;
	struct tally_report_options limit = *table->options;

	if (!table->options->trees || table->options->separator || !table->told.has_callchains)
		return;
	if (limit.tree_least > limit.percent_limit)
		limit.percent_limit = limit.tree_least;
	above.options = &limit;
	table->tree_count = count_shown(&above);
}

/* Trees are walked by several threads, a batch of rows at a time so that not all text is held. */
static int make_trees(struct table *table, uint64_t first)
{
	uint64_t count = table->tree_count - first;

	if (!table->trees)
		table->trees = calloc(TREE_BATCH, sizeof(*table->trees));
	if (!table->trees)
		return -ENOMEM;
	table->tree_first = first;
	for (size_t i = 0; i < TREE_BATCH; i++)
		tally_buf_clear(&table->trees[i]);
	return tally_pool_run(tally_pool_width(), count < TREE_BATCH ? count : TREE_BATCH,
			      make_tree, table);
}

/* The share decides the colour. */
static void put_cell(const struct table *table, struct tally_buf *to, size_t index,
		     uint64_t hundredths)
{
	const struct column *column = &table->columns[index];
	const char *text = (const char *)column->text.data;
	size_t pad = column->columns < column->width ? column->width - column->columns : 0;
	bool last = index + 1 == table->column_count, tinted = false;

	tally_cell_spaces(to, 2 + (column->right ? pad : 0));
	if (column->kind == COLUMN_CHILDREN || column->kind == COLUMN_SELF)
		tinted = tally_cell_tint(to, hundredths, table->options->colour);
	if (column->columns > column->width) {
		tally_buf_add(to, text, tally_cell_cut(text, column->text.size, column->width - 3));
		tally_buf_add(to, "...", 3);
	} else {
		tally_buf_add(to, text, column->text.size);
	}
	tally_cell_plain(to, tinted);
	if (!column->right && !last)
		tally_cell_spaces(to, pad);
}

static int put_row(struct table *table, struct tally_buf *to, const struct tally_profile_row *row)
{
	const char *separator = table->options->separator;

	for (size_t k = 0; k < table->column_count; k++) {
		struct column *column = &table->columns[k];
		uint64_t part = column->kind == COLUMN_CHILDREN ? row->children : row->self;

		make_cell(table, column, row);
		if (column->text.failed)
			return column->text.failed;
		if (!separator) {
			put_cell(table, to, k,
				 table->options->colour ? tally_cell_share(part, table->told.total)
							: 0);
			continue;
		}
		if (k)
			tally_buf_text(to, separator);
		tally_buf_add(to, column->text.data, column->text.size);
	}
	tally_buf_byte(to, '\n');
	return 0;
}

static int write_out(struct tally_buf *text, FILE *to)
{
	if (text->failed)
		return text->failed;
	errno = 0;
	if (text->size && fwrite(text->data, 1, text->size, to) != text->size)
		return errno ? -errno : -EIO;
	tally_buf_clear(text);
	return 0;
}

static int put_rows(struct table *table, struct tally_buf *to, FILE *file)
{
	for (uint64_t i = 0; i < table->row_count; i++) {
		struct tally_profile_row row = tally_profile_row(table->profile, table->event, i);
		int result = put_row(table, to, &row);

		if (result)
			return result;
		if (i < table->tree_count) {
			result = i % TREE_BATCH ? 0 : make_trees(table, i);

			if (result)
				return result;
			tally_buf_add(to, table->trees[i % TREE_BATCH].data,
				      table->trees[i % TREE_BATCH].size);
			tally_buf_byte(to, '\n');
		}
		if (to->size >= FLUSH_SIZE) {
			result = write_out(to, file);
			if (result)
				return result;
		}
	}
	return write_out(to, file);
}

static void put_titles(const struct table *table, struct tally_buf *to)
{
	const char *separator = table->options->separator;

	tally_buf_byte(to, '#');
	for (size_t k = 0; k < table->column_count; k++) {
		const struct column *column = &table->columns[k];
		size_t length = strlen(column->title), pad = column->width - length;

		tally_buf_text(to, !k ? " " : separator ? separator : "  ");
		if (column->width < length || separator)
			pad = 0;
		if (column->right)
			tally_cell_spaces(to, pad);
		tally_buf_text(to, column->title);
		if (!column->right && k + 1 < table->column_count)
			tally_cell_spaces(to, pad);
	}
	tally_buf_byte(to, '\n');
	if (separator)
		return;
	tally_buf_byte(to, '#');
	for (size_t k = 0; k < table->column_count; k++) {
		tally_buf_text(to, k ? "  " : " ");
		for (size_t i = 0; i < table->columns[k].width; i++)
			tally_buf_byte(to, '.');
	}
	tally_buf_text(to, "\n#\n");
}

static void put_header(const struct table *table, struct tally_buf *to)
{
	tally_buf_text(to, "# Samples: ");
	tally_cell_count(to, table->told.all_samples);
	tally_buf_text(to, " of event '");
	tally_cell_name(to, table->told.name);
	tally_buf_text(to, "'\n# Event count (approx.): ");
	tally_cell_u64(to, table->told.total);
	tally_buf_byte(to, '\n');
	if (table->told.samples != table->told.all_samples) {
		tally_buf_text(to, "# Shown: ");
		tally_cell_u64(to, table->told.samples);
		tally_buf_text(to, " of ");
		tally_cell_u64(to, table->told.all_samples);
		tally_buf_text(to, " samples pass the filters, ");
		tally_cell_percent(to,
				   tally_cell_share(table->told.passed_total, table->told.total));
		tally_buf_text(to, " of the event count\n");
	}
	tally_buf_text(to, "#\n");
	put_titles(table, to);
}

static int put_event(const struct tally_profile *profile, size_t event,
		     const struct tally_report_options *options, struct tally_buf *to, FILE *file)
{
	struct table table = {.profile = profile, .options = options, .event = event};
	int result;

	table.told = tally_profile_event(profile, event);
	choose_columns(&table);
	table.row_count = count_shown(&table);
	result = find_widths(&table);
	if (!result) {
		fit_width(&table);
		count_trees(&table);
		if (!options->quiet)
			put_header(&table, to);
		result = put_rows(&table, to, file);
	}
	for (size_t i = 0; table.trees && i < TREE_BATCH; i++)
		tally_buf_done(&table.trees[i]);
	free(table.trees);
	for (size_t k = 0; k < table.column_count; k++)
		tally_buf_done(&table.columns[k].text);
	return result;
}

static void put_losses(const struct tally_session_counts *counts, struct tally_buf *to)
{
	if (counts->lost) {
		tally_buf_text(to, "# Lost: ");
		tally_cell_u64(to, counts->lost);
		tally_buf_text(to, ", ");
		tally_cell_percent(to,
				   tally_cell_share(counts->lost, counts->lost + counts->samples));
		tally_buf_text(to,
			       " of what was sampled: the rings were too small or read too late\n");
	}
	if (counts->throttled) {
		tally_buf_text(to, "# Throttled: ");
		tally_cell_u64(to, counts->throttled);
		tally_buf_text(to, " times: samples came faster than "
				   "kernel.perf_event_max_sample_rate lets them\n");
	}
	if (counts->lost || counts->throttled)
		tally_buf_text(to, "#\n");
}

static void put_nothing(const struct tally_profile *profile, struct tally_buf *to)
{
	const struct tally_session_counts *counts =
	    tally_session_counts(tally_profile_session(profile));

	tally_buf_text(to, "# No samples");
	if (counts->lost)
		tally_buf_text(to, ": all of them were lost; record with larger rings (-m)\n");
	else if (!counts->records)
		tally_buf_text(
		    to, ": the file holds no records, so the recording ended before it began\n");
	else
		tally_buf_text(
		    to, ": the recorded program may have ended before the first one (a higher -F "
			"helps), slept all the time, or spent it where the event does not count "
			"(:u counts user space only)\n");
}

int tally_report_text(const struct tally_profile *profile,
		      const struct tally_report_options *options, FILE *to)
{
	struct tally_report_options taken = {.size = sizeof(taken)};
	struct tally_buf text = {0};
	size_t events = tally_profile_event_count(profile), shown = 0;
	int result = tally_options_take(&taken, sizeof(taken), options);

	if (result)
		return result;
	if (!taken.quiet)
		put_losses(tally_session_counts(tally_profile_session(profile)), &text);
	for (size_t i = 0; i < events && !result; i++) {
		if (!tally_profile_event(profile, i).all_samples)
			continue;
		if (shown++)
			tally_buf_text(&text, "\n\n");
		result = put_event(profile, i, &taken, &text, to);
	}
	if (!result && !shown) {
		put_nothing(profile, &text);
		result = write_out(&text, to);
	}
	tally_buf_done(&text);
	return result;
}
