#include "report/report_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "profile/profile.h"

static int add(struct report_table *table, const char *name)
{
	if (table->field_count == TALLY_REPORT_COLUMNS_MOST ||
	    !tally_report_field_init(&table->fields[table->field_count], table->profile, name))
		return -EINVAL;
	if (table->options->ns)
		table->fields[table->field_count].unit = 1;
	table->field_count++;
	return 0;
}

/* Whether cycles of branches were added up, and rows have functions. */
static bool has_functions(const struct tally_profile *profile)
{
	size_t count;
	const char *const *keys = tally_profile_keys(profile, &count);

	for (size_t i = 0; i < count && profile->cycles; i++)
		if (!strcmp(keys[i], "symbol") || !strcmp(keys[i], "symbol_to"))
			return true;
	return false;
}

int tally_report_table_fields(struct report_table *table)
{
	const struct tally_report_options *options = table->options;
	bool children = tally_profile_has_children(table->profile);
	static const char *const modes[] = {"overhead_sys", "overhead_us", "overhead_guest_sys",
					    "overhead_guest_us"};
	size_t count;
	const char *const *keys = tally_profile_keys(table->profile, &count);
	int result = 0;

	table->field_count = 0;
	for (size_t i = 0; i < options->column_count && !result; i++) {
		result = add(table, options->columns[i]);
		if (!result && options->title_self && !strcmp(table->fields[i].name, "overhead"))
			table->fields[i].title = "Self";
	}
	if (options->column_count)
		return result;
	if (children)
		add(table, "overhead_children");
	if (table->profile->latency)
		add(table, "latency");
	add(table, "overhead");
	if (children)
		table->fields[1].title = "Self";
	for (size_t i = 0; options->show_modes && i < (table->profile->has_guests ? 4 : 2); i++)
		add(table, modes[i]);
	if (options->show_samples)
		add(table, "sample");
	if (options->show_total_period)
		add(table, "period");
	for (size_t i = 0; i < count && !result; i++)
		result = add(table, keys[i]);
	if (has_functions(table->profile) && !options->hierarchy) {
		add(table, "ipc");
		if (options->format && strcmp(options->format, "text") != 0)
			add(table, "ipc_coverage");
	}
	return result;
}

uint64_t tally_report_table_count(const struct report_table *table, double least)
{
	uint64_t low = 0, high = table->facts.row_count;

	while (least > 0 && low < high) {
		uint64_t middle = low + (high - low) / 2;
		struct tally_profile_row row = {.size = sizeof(row)};

		tally_profile_row(table->profile, table->event, middle, &row);
		if ((double)row.children < least)
			high = middle;
		else
			low = middle + 1;
	}
	return least > 0 ? low : high;
}

struct ordering {
	const struct report_table *table;
	struct report_field by[2 * TALLY_REPORT_COLUMNS_MOST];
	size_t by_count;
};

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct ordering *ordering = context;
	const struct report_table *table = ordering->table;
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	struct tally_profile_row first = {.size = sizeof(first)}, second = first;
	int result = 0;

	tally_profile_row(table->profile, table->event, a, &first);
	tally_profile_row(table->profile, table->event, b, &second);
	for (size_t i = 0; i < ordering->by_count && !result; i++)
		result = tally_report_field_compare(&ordering->by[i], &first, &second);
	return result ? result : a < b ? -1 : a > b;
}

static int make_order(struct report_table *table)
{
	const struct tally_report_options *options = table->options;
	struct ordering ordering = {.table = table};

	for (size_t i = 0; i < options->order_by_count; i++, ordering.by_count++)
		if (i == sizeof(ordering.by) / sizeof(*ordering.by) ||
		    !tally_report_field_init(&ordering.by[i], table->profile, options->order_by[i]))
			return -EINVAL;
	table->order = malloc((table->row_count + 1) * sizeof(*table->order));
	if (!table->order)
		return -ENOMEM;
	for (uint64_t i = 0; i < table->row_count; i++)
		table->order[i] = i;
	qsort_r(table->order, table->row_count, sizeof(*table->order), compare_rows, &ordering);
	return 0;
}

/* Leaves out the rows in which the group's leader has less than so many percent of its total, as
 * perf does. */
static void drop_small(struct report_group *group, double percent)
{
	double total = (double)group->totals[0];
	uint64_t kept = 0;

	for (uint64_t at = 0; at < group->row_count; at++) {
		double sum = (double)tally_report_group_row(group, at).children;

		if (percent <= 0 || (total > 0 && sum * 100 >= percent * total))
			memmove(group->rows + kept++ * group->count,
				group->rows + at * group->count,
				group->count * sizeof(*group->rows));
	}
	group->row_count = kept;
}

int tally_report_table_rows(struct report_table *table, size_t event)
{
	table->event = event;
	table->facts = report_event(table->profile, event);
	for (size_t i = 0; i < table->field_count; i++)
		if (table->profile->latency && !table->fields[i].key &&
		    !strcmp(table->fields[i].name, "overhead"))
			table->fields[i].whole = table->facts.undivided;
	table->row_count = tally_report_table_count(
	    table, table->options->hierarchy
		       ? 0
		       : table->options->percent_limit * (double)table->facts.total / 100);
	free(table->order);
	table->order = NULL;
	tally_report_group_done(&table->group);
	if (table->options->group) {
		uint32_t first, count;
		int result;

		tally_report_group_of(table->profile, event, &first, &count);
		if (!count)
			return 1;
		result = count > 1
			     ? tally_report_group_make(table->profile, first, count,
						       table->options->group_sort, &table->group)
			     : 0;
		if (!result && count > 1 && !table->options->hierarchy)
			drop_small(&table->group, table->options->percent_limit);
		if (result || count > 1) {
			table->row_count = table->group.row_count;
			return result;
		}
	}
	return table->options->order_by_count ? make_order(table) : 0;
}

void tally_report_table_done(struct report_table *table)
{
	free(table->order);
	table->order = NULL;
	tally_report_group_done(&table->group);
}
