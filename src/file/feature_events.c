/* EVENT_DESC and GROUP_DESC: the events' names, and which of them count together.
 * Source of the layouts: the perf.data format as perf 2.6.32 to 7.0 writes it. */
#include "file/feature_read.h"

#include "wire/attr_wire.h"

/* An attr of `size` bytes; its .size is what it says. */
static void read_attr(const uint8_t *bytes, uint32_t size, bool swapped, struct tally_attr *ret)
{
	uint8_t known[sizeof(*ret)] = {0};
	uint32_t said;

	memcpy(known, bytes, size < sizeof(known) ? size : sizeof(known));
	if (swapped)
		tally_attr_swap(known, sizeof(known), true);
	said = load_u32(known + offsetof(struct tally_attr, size));
	tally_attr_decode(known, size < sizeof(known) ? size : sizeof(known), ret, NULL);
	ret->size = said;
}

static int read_ids(struct tally_data *data, struct file_cursor *cursor, uint32_t count,
		    struct tally_data_event_desc *ret)
{
	uint64_t *ids;

	if (count > cursor_left(cursor) / 8) {
		cursor->failed = true;
		return 0;
	}
	ids = feature_list(data, uint64_t, count);
	if (!ids)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		ids[i] = cursor_u64(cursor);
	ret->ids = ids;
	ret->id_count = count;
	return 0;
}

static int read_desc(struct tally_data *data, struct file_cursor *cursor, uint32_t attr_size,
		     struct tally_data_event_desc *ret)
{
	const uint8_t *attr = cursor_bytes(cursor, attr_size);
	uint32_t id_count = cursor_u32(cursor);

	ret->name = tally_feature_string(data, cursor);
	if (!ret->name)
		return feature_no_string(cursor);
	read_attr(attr, attr_size, data->swapped, &ret->attr);
	return id_count ? read_ids(data, cursor, id_count, ret) : 0;
}

/* Names go to events by index.  Writers whose attr table has no ids have them here. */
static int add_description(struct tally_data *data, size_t index)
{
	const struct tally_data_event_desc *desc = &data->info.event_descs[index];
	struct tally_data_event *event = &data->events[index];

	if (*desc->name)
		event->name = desc->name;
	if (event->id_count || !desc->id_count)
		return 0;
	for (size_t i = 0; i < desc->id_count; i++) {
		bool added;
		uint64_t *value = tally_map_put(&data->ids, desc->ids[i], &added);

		if (!value)
			return -ENOMEM;
		if (added)
			*value = index;
	}
	event->ids = desc->ids;
	event->id_count = desc->id_count;
	return 0;
}

/* {u32 n, u32 attr size, n x {attr, u32 ids, name, u64 ids[]}} */
int tally_feature_event_desc(struct tally_data *data, struct file_cursor *cursor)
{
	uint32_t count = cursor_u32(cursor), attr_size = cursor_u32(cursor);
	struct tally_data_event_desc *descs;

	if (attr_size < PERF_ATTR_SIZE_VER0 ||
	    count > cursor_left(cursor) / (attr_size + (size_t)8)) {
		cursor->failed = true;
		return 0;
	}
	descs = feature_list(data, struct tally_data_event_desc, count);
	if (!descs)
		return -ENOMEM;
	data->info.event_descs = descs;
	for (uint32_t i = 0; i < count; i++) {
		int code = read_desc(data, cursor, attr_size, &descs[i]);

		if (code || cursor->failed)
			return code;
		data->info.event_desc_count = i + 1;
		code = i < data->event_count ? add_description(data, i) : 0;
		if (code)
			return code;
	}
	data->info.has_event_desc = true;
	return 0;
}

/* {u32 n, n x {name, u32 leader's index, u32 members}}: members follow their leader, and groups
 * each other. */
int tally_feature_group_desc(struct tally_data *data, struct file_cursor *cursor)
{
	uint32_t count = cursor_count(cursor, 12);
	struct tally_data_group *groups = feature_list(data, struct tally_data_group, count);
	size_t next = 0;

	if (!groups)
		return -ENOMEM;
	data->info.groups = groups;
	for (uint32_t i = 0; i < count; i++) {
		struct tally_data_group *group = &groups[i];

		group->name = tally_feature_string(data, cursor);
		group->leader = cursor_u32(cursor);
		group->members = cursor_u32(cursor);
		if (!group->name || cursor->failed)
			return feature_no_string(cursor);
		if (group->leader < next || group->leader >= data->event_count ||
		    group->members > data->event_count - group->leader) {
			cursor->failed = true;
			return 0;
		}
		data->info.group_count = i + 1;
		next = group->leader + group->members;
		for (uint32_t k = group->leader; k < group->leader + group->members; k++)
			data->events[k].leader = group->leader;
	}
	return 0;
}
