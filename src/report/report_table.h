/* The table of an event: its fields, and its rows in their order. All formats write this. */
#ifndef TALLY_REPORT_REPORT_TABLE_H
#define TALLY_REPORT_REPORT_TABLE_H

#include <stdint.h>
#include <tally/report.h>
#include "profile/profile.h"
#include "report/report_field.h"
#include "report/report_group.h"

struct report_table {
	const struct tally_profile *profile;
	const struct tally_report_options *options;
	size_t event;
	struct tally_profile_event facts;
	struct report_field fields[TALLY_REPORT_COLUMNS_MOST];
	size_t field_count;
	uint64_t row_count;        /* shown */
	uint64_t *order;           /* the rows in order; NULL: the profile's order */
	struct report_group group; /* count is 0: the rows are of one event */
};

/* Finds the fields that the options ask for; by default overhead, sample and period if the options
 * show them, and the keys.  Fills `fields` of the table, which is zero except for profile and
 * options. 0, or -EINVAL: a name is not a field, or not a key of the profile. */
int tally_report_table_fields(struct report_table *table);
/* Chooses the event's rows and sorts them, or those of the group that it leads, with the option
 * `group`.  1: the event is a member of another's group, and has no rows of its own.  0, -ENOMEM,
 * -EINVAL. */
int tally_report_table_rows(struct report_table *table, size_t event);
void tally_report_table_done(struct report_table *table);

/* The number of rows with at least this period; these are the first ones if `order` is NULL. */
uint64_t tally_report_table_count(const struct report_table *table, double least);

static inline struct tally_profile_row report_table_row(const struct report_table *table,
							uint64_t at)
{
	struct tally_profile_row row = {.size = sizeof(row)};

	if (table->group.count)
		return tally_report_group_row(&table->group, at);
	tally_profile_row_fill(table->profile,
			       table->profile->rows.event_first[table->event] +
				   (uint32_t)(table->order ? table->order[at] : at),
			       &row);
	return row;
}

static inline struct tally_profile_event report_event(const struct tally_profile *profile,
						      size_t event)
{
	struct tally_profile_event facts = {.size = sizeof(facts)};

	tally_profile_event(profile, event, &facts);
	return facts;
}

#endif
