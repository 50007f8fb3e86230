/* The rows of a group of events side by side: a row has the sums of each event of the group. */
#ifndef TALLY_REPORT_REPORT_GROUP_H
#define TALLY_REPORT_REPORT_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/profile.h>
#include "report/report_field.h"

#define REPORT_GROUP_NONE UINT64_MAX

struct report_group {
	const struct tally_profile *profile;
	uint32_t first, count; /* events */
	uint64_t *rows;        /* `count` for each row: the event's row, or REPORT_GROUP_NONE */
	uint64_t row_count;
	uint64_t *totals; /* by event: what 100 % is */
};

/* The events of the group that an event leads: as the header says, or all, where no group was
 * recorded.  *ret_count is 0 of an event that is a member of another's group. */
void tally_report_group_of(const struct tally_profile *profile, size_t event, uint32_t *ret_first,
			   uint32_t *ret_count);
/* Joins the rows of these events, the largest first: by the sums of the event number `by` in the
 * group, then by those of the others.  0 or -ENOMEM; to be given back by tally_report_group_done()
 * in either case. */
int tally_report_group_make(const struct tally_profile *profile, uint32_t first, uint32_t count,
			    uint32_t by, struct report_group *ret);
void tally_report_group_done(struct report_group *group);
/* What all events of a row have in common; sums are those of the first event. */
struct tally_profile_row tally_report_group_row(const struct report_group *group, uint64_t at);
/* The row of one of the group's events; all of its sums are 0 where the event has no such row. */
struct tally_profile_row tally_report_group_event_row(const struct report_group *group, uint64_t at,
						      uint32_t event);
/* A sum of all events of the row, as a cell. */
void tally_report_group_text(const struct report_group *group, const struct report_field *field,
			     uint64_t at, struct tally_buf *to);

#endif
