/* The report as text: header lines, a table of rows, trees below them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/data.h>
#include <tally/info.h>
#include <tally/report.h>
#include "base/buf.h"
#include "base/pool.h"
#include "base/cell.h"
#include "report/report_blocks.h"
#include "report/report_columns.h"
#include "report/report_format.h"
#include "report/report_hierarchy.h"
#include "report/report_notes.h"
#include "report/report_rows.h"
#include "report/report_table.h"
#include "report/report_tree.h"
#include "base/wrap.h"
#include "profile/profile.h"

#define TREE_BATCH   32
#define FLUSH_SIZE   ((size_t)1 << 16)
#define COMMAND_MOST 120 /* columns of a command line */
#define FIRST_LEAST  10  /* rows before trees on a terminal */

struct text_table {
	struct report_table table;
	struct report_columns columns;
	uint64_t tree_count;     /* rows that have a tree come first */
	struct tally_buf *trees; /* of a batch of rows, from tree_first on */
	uint64_t tree_first;
	bool by_symbol; /* the first key of rows is the symbol */
};

/* The smallest period of a branch that is shown; an integer, as in perf.  Where it is a share of
 * the branch above, it does not depend on the row. */
static uint64_t tree_least(const struct report_table *table)
{
	bool fractal = table->options->tree_style == TALLY_TREE_FRACTAL;
	double least =
	    fractal ? 0 : (double)table->facts.total * (table->options->tree_least / 100.0);

	return least <= 0 ? 0 : least >= 0x1p64 ? UINT64_MAX : (uint64_t)least;
}

/* Adds the tree of a row. */
static int add_tree(const struct text_table *text, uint64_t at, struct tally_buf *to)
{
	const struct report_table *table = &text->table;
	const struct tally_report_options *options = table->options;
	struct tally_profile_row row = report_table_row(table, at);
	struct tally_tree_options wanted = {.size = sizeof(wanted), .order = options->order};
	struct tally_tree tree;
	int result;

	wanted.least = tree_least(table);
	/* Rows with trees may be anywhere, and a group's row may be of another event. */
	if ((table->order || options->hierarchy || table->group.count) &&
	    (row.children < wanted.least || !row.children))
		return 0;
	if (options->tree_style != TALLY_TREE_GRAPH)
		wanted.least = 0;
	result = tally_profile_tree(table->profile, table->event, &row, &wanted, &tree);
	if (result)
		return result;
	if (options->tree_style == TALLY_TREE_FLAT || options->tree_style == TALLY_TREE_FOLDED)
		result = tally_report_paths(to, &tree, table->facts.total, options);
	else
		tally_report_tree(to, &tree, table->facts.total, options, text->by_symbol);
	tally_tree_done(&tree);
	return result ? result : to->failed;
}

static int make_tree(void *context, unsigned thread, size_t index)
{
	struct text_table *text = context;

	(void)thread;
	return add_tree(text, text->tree_first + index, &text->trees[index]);
}

static int add_line_tree(void *context, uint64_t row, struct tally_buf *to)
{
	return add_tree(context, row, to);
}

/* Counts the rows with trees: a row below the smallest branch has none. */
static void count_trees(struct text_table *text)
{
	uint64_t count;

	if (!text->table.options->trees || text->table.options->separator ||
	    !text->table.facts.has_callchains)
		return;
	count = tally_report_table_count(&text->table, (double)tree_least(&text->table));
	text->tree_count = count < text->table.row_count ? count : text->table.row_count;
	if ((text->table.order || text->table.group.count) && count)
		text->tree_count = text->table.row_count;
}

/* Makes the trees in several threads, for a batch of rows at a time, so that not all text is in
 * memory. */
static int make_trees(struct text_table *text, uint64_t first)
{
	uint64_t count = text->tree_count - first;

	if (!text->trees)
		text->trees = calloc(TREE_BATCH, sizeof(*text->trees));
	if (!text->trees)
		return -ENOMEM;
	text->tree_first = first;
	for (size_t i = 0; i < TREE_BATCH; i++)
		tally_buf_clear(&text->trees[i]);
	return tally_pool_run(tally_pool_width(), count < TREE_BATCH ? count : TREE_BATCH,
			      make_tree, text);
}

/* Writes the rows with trees, and then those without. */
static int put_rows(struct text_table *text, struct tally_buf *to, FILE *file)
{
	const struct report_rows rest = {&text->table, text->tree_count, text->table.row_count};

	for (uint64_t i = 0; i < text->tree_count; i++) {
		struct tally_profile_row row = report_table_row(&text->table, i);
		const struct tally_buf *tree;
		int result;

		text->columns.at = i;
		result = tally_report_columns_row(&text->columns, &row, to);

		if (!result && i % TREE_BATCH == 0)
			result = make_trees(text, i);
		if (result)
			return result;
		tree = &text->trees[i % TREE_BATCH];
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
	return tally_report_rows_write(&rest, &text->columns, to, file);
}

/* The number of rows that fit the terminal below the lines in `to` and above the pager's line. */
static uint64_t count_first(const struct text_table *text, const struct tally_buf *to)
{
	uint64_t lines = 3, count; /* the pager's line, a blank line and a title */

	for (size_t i = 0; i < to->size; i++)
		lines += to->data[i] == '\n';
	count = text->table.options->height > lines ? text->table.options->height - lines : 0;
	if (count < FIRST_LEAST)
		count = FIRST_LEAST;
	return count < text->table.row_count ? count : text->table.row_count;
}

/* Writes the first rows without their trees, so that the first screen shows many. */
static int put_first(struct text_table *text, struct tally_buf *to, FILE *file)
{
	const struct report_rows first = {&text->table, 0, count_first(text, to)};
	int result = tally_report_rows_write(&first, &text->columns, to, file);
	size_t from = to->size;

	tally_buf_text(to, "\n# Call trees of all rows, ");
	tally_buf_text(to, text->table.options->order == TALLY_CALLER ? "callers" : "callees");
	tally_buf_text(to, " first, branches from ");
	tally_cell_percent(to, (uint64_t)(text->table.options->tree_least * 100 + 0.5));
	tally_buf_text(to, " (-g none: no trees)\n#\n");
	tally_report_wrap(to, from, text->table.options->width);
	return result;
}

/* What was measured: the event, or the events of a group together. */
static void put_measured(const struct text_table *text, struct tally_buf *to)
{
	const struct report_group *group = &text->table.group;
	const struct tally_profile *profile = text->table.profile;
	uint32_t count = group->count ? group->count : 1;
	uint64_t samples = 0, total = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct tally_profile_event facts =
		    report_event(profile, (uint32_t)text->table.event + i);

		samples += tally_profile_is_relative(profile) ? facts.samples : facts.all_samples;
		total += facts.total;
	}
	tally_buf_text(to, "# Samples: ");
	tally_cell_count(to, samples);
	tally_buf_text(to, count > 1 ? " of events 'anon group { " : " of event '");
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			tally_buf_text(to, ", ");
		tally_cell_name(to, report_event(profile, (uint32_t)text->table.event + i).name);
	}
	tally_buf_text(to, count > 1 ? " }'\n" : "'\n");
	tally_buf_text(to, profile->kind == TALLY_PROFILE_MEMORY ? "# Total weight: "
								 : "# Event count (approx.): ");
	tally_cell_u64(to, total);
	tally_buf_byte(to, '\n');
	if (profile->kind == TALLY_PROFILE_BRANCHES)
		tally_buf_text(to, "# Rows are of branches (--no-branch-stack: of samples)\n");
}

/* The command line that recorded, and how long samples were taken. */
static void put_recorded(const struct tally_profile *profile, struct tally_buf *to)
{
	const struct tally_session *session = tally_profile_session(profile);
	const struct tally_data_info *info = tally_data_info(tally_session_data(session));
	const struct tally_session_counts *counts = tally_session_counts(session);
	size_t start = to->size;

	if (!info->cmdline_count)
		return;
	tally_buf_text(to, "# Recorded: ");
	for (size_t i = 0; i < info->cmdline_count && to->size - start < COMMAND_MOST; i++) {
		const char *path = strrchr(info->cmdline[i], '/');

		if (i)
			tally_buf_byte(to, ' ');
		tally_cell_name(to, !i && path ? path + 1 : info->cmdline[i]);
	}
	if (!to->failed && to->size - start > COMMAND_MOST) {
		to->size = start + tally_cell_cut((const char *)to->data + start, to->size - start,
						  COMMAND_MOST);
		tally_buf_text(to, "...");
	}
	if (counts->last_time > counts->first_time) {
		uint64_t ms = (counts->last_time - counts->first_time + 500000) / 1000000;

		tally_buf_text(to, "; samples of ");
		tally_cell_u64(to, ms / 1000);
		tally_buf_byte(to, '.');
		tally_cell_padded(to, ms % 1000, 3);
		tally_buf_text(to, " s");
	}
	tally_buf_byte(to, '\n');
}

static int put_header(const struct text_table *text, struct tally_buf *to)
{
	size_t from = to->size;
	int result;

	put_measured(text, to);
	/* A person reads the first screen without knowing the file. */
	if (text->table.options->height)
		put_recorded(text->table.profile, to);
	if (text->table.facts.samples != text->table.facts.all_samples) {
		tally_buf_text(to, "# Shown: ");
		tally_cell_u64(to, text->table.facts.samples);
		tally_buf_text(to, " of ");
		tally_cell_u64(to, text->table.facts.all_samples);
		tally_cell_noun(to, text->table.facts.all_samples, "sample");
		tally_buf_text(to, text->table.facts.samples == 1 ? " passes" : " pass");
		tally_buf_text(to, " the filters, ");
		tally_cell_percent(to, tally_cell_share(text->table.facts.passed_total,
							text->table.facts.all_total));
		tally_buf_text(to, " of the event count\n");
	}
	result = tally_report_notes(text->table.profile, text->table.event, to);
	tally_buf_text(to, "#\n");
	tally_report_wrap(to, from, text->table.options->width);
	if (!text->table.options->hierarchy)
		tally_report_columns_titles(&text->columns, to);
	return result;
}

/* Whether cells may be cut. */
static bool is_cut(const struct tally_report_options *options)
{
	return !options->separator && !options->whole_names &&
	       (options->width || options->column_width_count);
}

/* The rows of an event, or a group, below the lines of what they have in common. */
static int put_hierarchy(struct text_table *text, struct tally_buf *to, FILE *file)
{
	const struct tally_report_options *options = text->table.options;
	bool trees = options->trees && !options->separator && text->table.facts.has_callchains;
	int result = options->quiet ? 0 : put_header(text, to);

	return result ? result
		      : tally_report_hierarchy(&text->table, trees ? add_line_tree : NULL, text, to,
					       file);
}

static int put_event(struct text_table *text, size_t event, struct tally_buf *to, FILE *file)
{
	const struct tally_report_options *options = text->table.options;
	int result = tally_report_table_rows(&text->table, event);
	struct report_rows rows = {&text->table, 0, text->table.row_count};
	struct tally_map clashes = {0};

	if (result == 1)
		return 0;

	if (!result && options->hierarchy)
		return put_hierarchy(text, to, file);
	text->tree_count = 0;
	tally_report_columns_init(&text->columns, &text->table);
	/* Columns that are not padded need no widths. */
	if (!result && !options->separator)
		result = tally_report_rows_hold(&rows, &text->columns);
	if (!result) {
		tally_report_columns_fit(&text->columns);
		if (is_cut(options))
			result =
			    tally_report_columns_clashes(&text->columns, &text->table, &clashes);
		count_trees(text);
		if (!options->quiet && !result)
			result = put_header(text, to);
		if (!result && options->height && text->tree_count)
			result = put_first(text, to, file);
		if (!result)
			result = put_rows(text, to, file);
	}
	tally_report_columns_done(&text->columns);
	tally_map_done(&clashes);
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
				   "kernel.perf_event_max_sample_rate allows\n");
	}
	if (counts->lost || counts->throttled)
		tally_buf_text(to, "#\n");
}

/* Of events besides the dummy, which is there for the records of processes. */
static bool takes_samples(const struct tally_data *data)
{
	for (size_t i = 0; i < tally_data_event_count(data); i++) {
		const struct tally_attr *attr = &tally_data_event(data, i)->attr;

		if (attr->sample_period &&
		    !(attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY))
			return true;
	}
	return false;
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
		    to, ": the file has no records, so the recording ended before it began\n");
	else if (counts->by_type[PERF_RECORD_STAT])
		tally_buf_text(to, ": these are counts; `tally stat report` prints them\n");
	else if (!takes_samples(tally_session_data(tally_profile_session(profile))))
		tally_buf_text(to, ": its events were recorded without them (record -n)\n");
	else
		tally_buf_text(to, ": the recorded program may have ended before the first one (a "
				   "higher -F helps), slept all the time, or run only where the "
				   "event does not count (:u counts user space only)\n");
}

/* Whether the first key of rows is the symbol. */
static bool is_by_symbol(const struct tally_profile *profile)
{
	size_t count;
	const char *const *keys = tally_profile_keys(profile, &count);

	return count && !strcmp(keys[0], "symbol");
}

/* Whether an event, or the group that it leads, has samples. */
static bool has_rows(const struct tally_profile *profile,
		     const struct tally_report_options *options, size_t event)
{
	uint32_t first = (uint32_t)event, count = 1;

	if (options->group)
		tally_report_group_of(profile, event, &first, &count);
	for (uint32_t i = 0; i < count; i++)
		if (options->show_empty || report_event(profile, first + i).all_samples)
			return true;
	return false;
}

static int write_text(const struct tally_profile *profile,
		      const struct tally_report_options *options, FILE *to)
{
	struct text_table table = {.table = {.profile = profile, .options = options}};
	struct tally_buf text = {0};
	size_t events = tally_profile_event_count(profile), shown = 0;
	int result = tally_report_table_fields(&table.table);

	table.by_symbol = is_by_symbol(profile);
	if (!options->quiet)
		put_losses(tally_session_counts(tally_profile_session(profile)), &text);
	tally_report_wrap(&text, 0, options->width);
	if (options->blocks) {
		result = tally_report_blocks(profile, options, &text);
		if (!result)
			result = tally_report_write_out(&text, to);
		events = 0;
		shown = 1;
	}
	for (size_t i = 0; i < events && !result; i++) {
		if (!has_rows(profile, options, i))
			continue;
		if (shown++)
			tally_buf_text(&text, "\n\n");
		result = put_event(&table, i, &text, to);
	}
	if (!result && !shown) {
		put_nothing(profile, &text);
		tally_report_wrap(&text, 0, options->width);
		result = tally_report_write_out(&text, to);
	}
	for (size_t i = 0; table.trees && i < TREE_BATCH; i++)
		tally_buf_done(&table.trees[i]);
	free(table.trees);
	tally_report_table_done(&table.table);
	tally_buf_done(&text);
	return result;
}

const struct report_format tally_report_format_text = {
    .name = "text",
    .help = "tables for people",
    .trees = true,
    .write = write_text,
};

int tally_report_remarks(const struct tally_profile *profile, size_t event, FILE *to)
{
	struct tally_buf text = {0};
	const char *line, *end;
	int result;

	put_losses(tally_session_counts(tally_profile_session(profile)), &text);
	result = tally_report_notes(profile, event, &text);
	line = result ? "" : tally_buf_str(&text);
	errno = 0;
	for (; !result && *line; line = end + (*end != 0)) {
		size_t bytes = strcspn(line, "\n"), mark = strspn(line, "# ");

		end = line + bytes;
		if (mark < bytes && fprintf(to, "%.*s\n", (int)(bytes - mark), line + mark) < 0)
			result = errno ? -errno : -EIO;
	}
	tally_buf_done(&text);
	return result;
}
