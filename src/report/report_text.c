/* The report as text: header lines, a table of rows, trees below them. */
#include <errno.h>
#include <stdlib.h>
#include <tally/report.h>
#include "base/buf.h"
#include "base/option_struct.h"
#include "base/pool.h"
#include "base/cell.h"
#include "report/report_notes.h"
#include "report/report_order.h"
#include "report/report_rows.h"
#include "report/report_tree.h"
#include "base/wrap.h"

#define TREE_BATCH  32
#define FLUSH_SIZE  ((size_t)1 << 16)
#define FIRST_LEAST 10 /* rows before trees on a terminal */

struct table {
	const struct tally_profile *profile;
	const struct tally_report_options *options;
	size_t event;
	struct tally_profile_event told;
	struct report_columns columns;
	uint64_t row_count;      /* shown */
	uint64_t tree_count;     /* rows that have a tree come first */
	struct tally_buf *trees; /* of the rows from tree_first on, a batch of them */
	uint64_t tree_first;
	uint64_t *order; /* which row stands where; NULL: as the profile has them */
	bool by_symbol;  /* the first column that tells rows apart is the symbol */
};

/* Rows come largest first, so those below `least` are the last. */
static uint64_t count_from(const struct table *table, double least)
{
	uint64_t low = 0, high = table->told.row_count;

	while (least > 0 && low < high) {
		uint64_t middle = low + (high - low) / 2;
		struct tally_profile_row row =
		    tally_profile_row(table->profile, table->event, middle);

		if ((double)row.children < least)
			high = middle;
		else
			low = middle + 1;
	}
	return least > 0 ? low : high;
}

static uint64_t count_shown(const struct table *table)
{
	return count_from(table, table->options->percent_limit * (double)table->told.total / 100);
}

/* The row that stands at this place. */
static struct tally_profile_row row_at(const struct table *table, uint64_t at)
{
	return tally_profile_row(table->profile, table->event,
				 table->order ? table->order[at] : at);
}

/* The least period of a branch, whole as perf has it. */
static uint64_t tree_least(const struct table *table)
{
	double least = (double)table->told.total * (table->options->tree_least / 100.0);

	return least <= 0 ? 0 : least >= 0x1p64 ? UINT64_MAX : (uint64_t)least;
}

static int make_tree(void *context, unsigned thread, size_t index)
{
	struct table *table = context;
	const struct tally_report_options *options = table->options;
	struct tally_profile_row row = row_at(table, table->tree_first + index);
	struct tally_tree_options wanted = {.size = sizeof(wanted), .order = options->order};
	struct tally_tree tree;
	int result;

	(void)thread;
	wanted.least = tree_least(table);
	if (table->order && row.children < wanted.least)
		return 0;
	result = tally_profile_tree(table->profile, table->event, &row, &wanted, &tree);
	if (result)
		return result;
	tally_report_tree(&table->trees[index], &tree, table->told.total, options,
			  table->by_symbol);
	tally_tree_done(&tree);
	return table->trees[index].failed;
}

/* A row that is smaller than the least branch has no tree. */
static void count_trees(struct table *table)
{
	uint64_t count;

	if (!table->options->trees || table->options->separator || !table->told.has_callchains)
		return;
	count = count_from(table, (double)tree_least(table));
	table->tree_count = count < table->row_count ? count : table->row_count;
	if (table->order && count) /* they may stand anywhere */
		table->tree_count = table->row_count;
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

/* The rows that have trees, and then those that have none. */
static int put_rows(struct table *table, struct tally_buf *to, FILE *file)
{
	const struct report_rows rest = {table->profile, table->event, table->tree_count,
					 table->row_count, table->order};

	for (uint64_t i = 0; i < table->tree_count; i++) {
		struct tally_profile_row row = row_at(table, i);
		int result = tally_report_columns_row(&table->columns, &row, to);
		const struct tally_buf *tree;

		if (!result && i % TREE_BATCH == 0)
			result = make_trees(table, i);
		if (result)
			return result;
		tree = &table->trees[i % TREE_BATCH];
		if (tree->size) {
			tally_buf_add(to, tree->data, tree->size);
			tally_buf_byte(to, '\n');
		}
		if (to->size >= FLUSH_SIZE) {
			result = tally_report_write_out(to, file);
			if (result)
				return result;
		}
	}
	return tally_report_rows_write(&rest, &table->columns, to, file);
}

/* So many rows fit a terminal below the lines that `to` holds and above the pager's own. */
static uint64_t count_first(const struct table *table, const struct tally_buf *to)
{
	uint64_t lines = 3, count; /* the pager's, and that a blank line and a title follow */

	for (size_t i = 0; i < to->size; i++)
		lines += to->data[i] == '\n';
	count = table->options->height > lines ? table->options->height - lines : 0;
	if (count < FIRST_LEAST)
		count = FIRST_LEAST;
	return count < table->row_count ? count : table->row_count;
}

/* The first rows without their trees, so that a terminal's first screen has many. */
static int put_first(struct table *table, struct tally_buf *to, FILE *file)
{
	const struct report_rows first = {table->profile, table->event, 0, count_first(table, to),
					  table->order};
	int result = tally_report_rows_write(&first, &table->columns, to, file);
	size_t from = to->size;

	tally_buf_text(to, "\n# Call trees of all rows, ");
	tally_buf_text(to, table->options->order == TALLY_CALLER ? "callers" : "callees");
	tally_buf_text(to, " first, branches from ");
	tally_cell_percent(to, (uint64_t)(table->options->tree_least * 100 + 0.5));
	tally_buf_text(to, " (-g none: no trees)\n#\n");
	tally_report_wrap(to, from, table->options->width);
	return result;
}

static int put_header(const struct table *table, struct tally_buf *to)
{
	size_t from = to->size;
	int result;

	tally_buf_text(to, "# Samples: ");
	tally_cell_count(to, tally_profile_is_relative(table->profile) ? table->told.samples
								       : table->told.all_samples);
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
		tally_cell_noun(to, table->told.all_samples, "sample");
		tally_buf_text(to, table->told.samples == 1 ? " passes" : " pass");
		tally_buf_text(to, " the filters, ");
		tally_cell_percent(
		    to, tally_cell_share(table->told.passed_total, table->told.all_total));
		tally_buf_text(to, " of the event count\n");
	}
	result = tally_report_notes(table->profile, table->event, to);
	tally_buf_text(to, "#\n");
	tally_report_wrap(to, from, table->options->width);
	tally_report_columns_titles(&table->columns, to);
	return result;
}

static int put_event(const struct tally_profile *profile, size_t event,
		     const struct tally_report_options *options, struct tally_buf *to, FILE *file)
{
	struct table table = {.profile = profile, .options = options, .event = event};
	struct report_rows rows = {.profile = profile, .event = event};
	size_t key_count;
	int result = 0;

	table.by_symbol = tally_profile_keys(profile, &key_count)[0] == TALLY_KEY_SYMBOL;
	table.told = tally_profile_event(profile, event);
	tally_report_columns_choose(&table.columns, profile, table.told.total, options);
	rows.end = table.row_count = count_shown(&table);
	if (options->order_by_count)
		result = tally_report_order_make(profile, event, rows.end, options, &table.order);
	rows.order = table.order;
	/* Columns that are not padded need no widths. */
	if (!result && !options->separator)
		result = tally_report_rows_hold(&rows, &table.columns);
	if (!result) {
		tally_report_columns_fit(&table.columns);
		count_trees(&table);
		if (!options->quiet)
			result = put_header(&table, to);
		if (!result && options->height && table.tree_count)
			result = put_first(&table, to, file);
		if (!result)
			result = put_rows(&table, to, file);
	}
	for (size_t i = 0; table.trees && i < TREE_BATCH; i++)
		tally_buf_done(&table.trees[i]);
	free(table.trees);
	free(table.order);
	tally_report_columns_done(&table.columns);
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
		tally_cell_noun(to, counts->throttled, "time");
		tally_buf_text(to, ": samples came faster than "
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
	if (counts->samples) {
		tally_buf_text(to, ": the filter ended the reading before the first of ");
		tally_cell_u64(to, counts->samples);
		tally_buf_byte(to, '\n');
	} else if (counts->lost)
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
	if (taken.column_count > TALLY_REPORT_COLUMNS_MOST)
		return -EINVAL;
	if (!taken.quiet)
		put_losses(tally_session_counts(tally_profile_session(profile)), &text);
	tally_report_wrap(&text, 0, taken.width);
	for (size_t i = 0; i < events && !result; i++) {
		if (!tally_profile_event(profile, i).all_samples)
			continue;
		if (shown++)
			tally_buf_text(&text, "\n\n");
		result = put_event(profile, i, &taken, &text, to);
	}
	if (!result && !shown) {
		put_nothing(profile, &text);
		tally_report_wrap(&text, 0, taken.width);
		result = tally_report_write_out(&text, to);
	}
	tally_buf_done(&text);
	return result;
}
