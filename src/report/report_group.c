#include "report/report_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/data.h>
#include <tally/info.h>
#include "base/bytes.h"
#include "base/cell.h"
#include "base/map.h"
#include "profile/profile.h"
#include "report/report_table.h"

void tally_report_group_of(const struct tally_profile *profile, size_t event, uint32_t *ret_first,
			   uint32_t *ret_count)
{
	const struct tally_data_info *info =
	    tally_data_info(tally_session_data(tally_profile_session(profile)));
	uint32_t events = (uint32_t)tally_profile_event_count(profile);

	*ret_first = (uint32_t)event;
	*ret_count = 1;
	for (size_t i = 0; i < info->group_count; i++) {
		const struct tally_data_group *group = &info->groups[i];

		if (group->leader > event || event - group->leader >= group->members)
			continue;
		*ret_first = group->leader;
		*ret_count = group->leader == event ? group->members : 0;
		if (*ret_count > events - group->leader)
			*ret_count = events - group->leader;
		return;
	}
	if (!info->group_count) {
		*ret_first = 0;
		*ret_count = event ? 0 : events;
	}
}

static struct tally_profile_row row_of(const struct report_group *group, uint32_t event,
				       uint64_t index)
{
	struct tally_profile_row row = {.size = sizeof(row)};

	tally_profile_row(group->profile, group->first + event, index, &row);
	return row;
}

/* Two different rows of one 64-bit hash would be taken for the same; see session/row_maker.c. */
static uint64_t hash_of(const struct report_group *group, const struct tally_profile_row *row)
{
	const struct tally_rows *rows = &group->profile->rows;
	uint64_t hash = hash_u64(rows->list[row->handle].key);

	for (size_t i = 0; i < group->profile->keys.count; i++)
		hash = hash_mix(hash, row->values[i] + 1);
	return hash;
}

static int add_rows(struct report_group *group, uint32_t event, struct tally_map *known,
		    uint64_t *room)
{
	uint64_t count = report_event(group->profile, group->first + event).row_count;

	for (uint64_t i = 0; i < count; i++) {
		struct tally_profile_row row = row_of(group, event, i);
		bool added;
		uint64_t *place = tally_map_put(known, hash_of(group, &row), &added);

		if (!place)
			return -ENOMEM;
		if (added) {
			*place = group->row_count;
			if (group->row_count == *room) {
				*room = *room ? *room * 2 : 256;
				if (!array_resize(&group->rows, *room * group->count,
						  sizeof(*group->rows)))
					return -ENOMEM;
			}
			for (uint32_t k = 0; k < group->count; k++)
				group->rows[group->row_count * group->count + k] =
				    REPORT_GROUP_NONE;
			group->row_count++;
		}
		group->rows[*place * group->count + event] = i;
	}
	return 0;
}

struct ordering {
	const struct report_group *group;
	uint32_t by;
};

static uint64_t sum_at(const struct report_group *group, const uint64_t *row, uint32_t event)
{
	return row[event] == REPORT_GROUP_NONE ? 0 : row_of(group, event, row[event]).children;
}

static int compare(const void *left, const void *right, void *context)
{
	const struct ordering *ordering = context;
	const struct report_group *group = ordering->group;
	const uint64_t *a = left, *b = right;

	for (uint32_t i = 0; i <= group->count; i++) {
		uint32_t event = i ? i - 1 : ordering->by;
		uint64_t first = sum_at(group, a, event), second = sum_at(group, b, event);

		if (first != second)
			return first > second ? -1 : 1;
	}
	/* Rows of an event are in the order of their texts where their sums are equal. */
	for (uint32_t i = 0; i < group->count; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

int tally_report_group_make(const struct tally_profile *profile, uint32_t first, uint32_t count,
			    uint32_t by, struct report_group *ret)
{
	struct tally_map known = {0};
	struct ordering ordering = {ret, by < count ? by : 0};
	uint64_t room = 0;
	int result = 0;

	*ret = (struct report_group){.profile = profile, .first = first, .count = count};
	ret->totals = calloc(count, sizeof(*ret->totals));
	if (!ret->totals)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && !result; i++) {
		ret->totals[i] = report_event(profile, first + i).total;
		result = add_rows(ret, i, &known, &room);
	}
	tally_map_done(&known);
	if (!result && ret->row_count)
		qsort_r(ret->rows, ret->row_count, count * sizeof(*ret->rows), compare, &ordering);
	return result;
}

void tally_report_group_done(struct report_group *group)
{
	free(group->rows);
	free(group->totals);
	*group = (struct report_group){0};
}

struct tally_profile_row tally_report_group_row(const struct report_group *group, uint64_t at)
{
	const uint64_t *rows = &group->rows[at * group->count];
	struct tally_profile_row row;
	uint32_t event = 0;

	while (event + 1 < group->count && rows[event] == REPORT_GROUP_NONE)
		event++;
	row = row_of(group, event, rows[event]);
	if (event)
		row.self = row.children = row.samples = 0;
	return row;
}

struct tally_profile_row tally_report_group_event_row(const struct report_group *group, uint64_t at,
						      uint32_t event)
{
	uint64_t index = group->rows[at * group->count + event];

	return index == REPORT_GROUP_NONE
		   ? (struct tally_profile_row){.size = sizeof(struct tally_profile_row)}
		   : row_of(group, event, index);
}

void tally_report_group_text(const struct report_group *group, const struct report_field *field,
			     uint64_t at, struct tally_buf *to)
{
	for (uint32_t i = 0; i < group->count; i++) {
		struct tally_profile_row row = tally_report_group_event_row(group, at, i);
		size_t before;

		if (i)
			tally_buf_byte(to, ' ');
		before = to->size;
		tally_report_field_text(field, &row, group->totals[i], to);
		if (!to->failed && to->size - before < field->width - 1) {
			/* Each value is aligned to the right of its part of the cell. */
			size_t length = to->size - before, pad = field->width - 1 - length;
			char text[32];

			if (length < sizeof(text)) {
				memcpy(text, to->data + before, length);
				to->size = before;
				tally_cell_spaces(to, pad);
				tally_buf_add(to, text, length);
			}
		}
	}
}
