/* What the feature sections say.
 *
 * Source of the layouts: the perf.data format as perf 2.6.32 to 7.0 writes it.  A section that does
 * not hold what it should is damage: what was read of it before stays, the rest is passed over. */
#include "file/data_file.h"

#include <errno.h>
#include "base/fail.h"
#include "file/feature.h"

static struct file_cursor section_cursor(const struct tally_data *data, unsigned feature)
{
	const struct file_payload *section = &data->sections[feature];

	return (struct file_cursor){
	    .at = section->bytes,
	    .end = section->bytes + section->size,
	    .swapped = data->swapped,
	};
}

/* A string of the format: u32 length with NUL and padding, bytes.  The arena's copy; NULL when it
 * is no string (`failed`) or out of memory. */
static const char *read_string(struct tally_data *data, struct file_cursor *cursor)
{
	uint32_t length = cursor_u32(cursor);
	const uint8_t *bytes = cursor_bytes(cursor, length);

	if (!bytes)
		return NULL;
	return tally_arena_strndup(&data->arena, (const char *)bytes,
				   strnlen((const char *)bytes, length));
}

static int read_strings(struct tally_data *data, struct file_cursor *cursor,
			const char *const **ret, size_t *ret_count)
{
	uint32_t count = cursor_count(cursor, 4);
	const char **strings;

	if (!count)
		return 0;
	strings = tally_arena_alloc(&data->arena, count * sizeof(*strings));
	if (!strings)
		return -ENOMEM;
	*ret = strings;
	for (uint32_t i = 0; i < count; i++) {
		strings[i] = read_string(data, cursor);
		if (!strings[i])
			return cursor->failed ? 0 : -ENOMEM;
		*ret_count = i + 1;
	}
	return 0;
}

static int read_one_string(struct tally_data *data, struct file_cursor *cursor, const char **ret)
{
	const char *text = read_string(data, cursor);

	if (!text)
		return cursor->failed ? 0 : -ENOMEM;
	*ret = text;
	return 0;
}

/* {u32 n, u32 attr size, n x {attr, u32 ids, name, u64 ids[]}}: names go to events by index. */
static int read_event_desc(struct tally_data *data, struct file_cursor *cursor)
{
	uint32_t count = cursor_u32(cursor), attr_size = cursor_u32(cursor);

	for (uint32_t i = 0; i < count && i < data->event_count; i++) {
		struct tally_data_event *event = &data->events[i];
		uint32_t id_count;
		const uint8_t *ids;
		const char *name;

		cursor_bytes(cursor, attr_size);
		id_count = cursor_u32(cursor);
		name = read_string(data, cursor);
		ids = cursor_bytes(cursor, (uint64_t)id_count * 8);
		if (cursor->failed)
			return 0;
		if (!name)
			return -ENOMEM;
		if (*name)
			event->name = name;
		/* Writers whose attr table has no ids have them here. */
		if (!event->id_count && id_count) {
			uint64_t *copy = tally_arena_alloc(&data->arena, (size_t)id_count * 8);
			struct file_cursor each = {
			    .at = ids, .end = ids + (size_t)id_count * 8, .swapped = data->swapped};

			if (!copy)
				return -ENOMEM;
			for (uint32_t k = 0; k < id_count; k++) {
				bool added;
				uint64_t *value;

				copy[k] = cursor_u64(&each);
				value = tally_map_put(&data->ids, copy[k], &added);
				if (!value)
					return -ENOMEM;
				if (added)
					*value = i;
			}
			event->ids = copy;
			event->id_count = id_count;
		}
	}
	return 0;
}

/* {u32 n, n x {name, u32 leader's index, u32 members}}: members follow their leader. */
static int read_group_desc(struct tally_data *data, struct file_cursor *cursor)
{
	uint32_t count = cursor_count(cursor, 12);

	for (uint32_t i = 0; i < count; i++) {
		const char *name = read_string(data, cursor);
		uint32_t leader = cursor_u32(cursor), members = cursor_u32(cursor);

		if (cursor->failed)
			return 0;
		if (!name)
			return -ENOMEM;
		if (leader >= data->event_count || members > data->event_count - leader) {
			cursor->failed = true;
			return 0;
		}
		for (uint32_t k = leader; k < leader + members; k++)
			data->events[k].leader = leader;
	}
	return 0;
}

/* One record of the section.  `no_pid`: as the first writers made it, without that field. */
static int read_build_id(struct tally_data *data, struct file_cursor *cursor, bool no_pid,
			 struct tally_data_build_id *ret)
{
	struct tally_data_build_id made = {0};
	struct file_cursor body;
	const uint8_t *bytes, *id;
	uint16_t size;

	cursor_u32(cursor); /* type: 0, no record */
	made.misc = cursor_u16(cursor);
	size = cursor_u16(cursor);
	bytes = cursor_bytes(cursor, size >= 8 ? size - 8U : UINT64_MAX);
	if (!bytes)
		return 0;
	body =
	    (struct file_cursor){.at = bytes, .end = bytes + size - 8, .swapped = cursor->swapped};
	if (!no_pid)
		made.pid = cursor_u32(&body);
	id = cursor_bytes(&body, 24);
	if (!id) {
		cursor->failed = true;
		return 0;
	}
	memcpy(made.id, id, sizeof(made.id));
	made.size = sizeof(made.id);
	if (made.misc & FEATURE_BUILD_ID_HAS_SIZE && id[20] <= sizeof(made.id))
		made.size = id[20];
	made.misc &= (uint16_t)~FEATURE_BUILD_ID_HAS_SIZE;
	made.filename = tally_arena_strndup(&data->arena, (const char *)body.at,
					    strnlen((const char *)body.at, cursor_left(&body)));
	if (!made.filename)
		return -ENOMEM;
	*ret = made;
	return 1;
}

static int read_build_ids(struct tally_data *data, struct file_cursor *cursor)
{
	size_t most = cursor_left(cursor) / 36 + 1, count = 0;
	struct tally_data_build_id *made;
	struct file_cursor probe = *cursor;
	bool no_pid = false;

	if (cursor_left(cursor) < 36)
		return 0;
	/* The first writers had no pid, so that the first name, "[kernel.kallsyms]", reads 4 bytes
	 * late. */
	if (cursor_bytes(&probe, 36) && cursor_left(&probe) >= 12)
		no_pid = !memcmp(probe.at, "nel.kallsyms]", 12);
	made = tally_arena_alloc(&data->arena, most * sizeof(*made));
	if (!made)
		return -ENOMEM;
	while (cursor_left(cursor) >= 8 && !cursor->failed && count < most) {
		int got = read_build_id(data, cursor, no_pid, &made[count]);

		if (got < 0)
			return got;
		count += (size_t)got;
	}
	data->info.build_ids = made;
	data->info.build_id_count = count;
	return 0;
}

static int read_feature(struct tally_data *data, unsigned feature, struct file_cursor *cursor)
{
	struct tally_data_info *info = &data->info;

	switch (feature) {
	case FEATURE_BUILD_ID:
		return read_build_ids(data, cursor);
	case FEATURE_HOSTNAME:
		return read_one_string(data, cursor, &info->hostname);
	case FEATURE_OSRELEASE:
		return read_one_string(data, cursor, &info->os_release);
	case FEATURE_VERSION:
		return read_one_string(data, cursor, &info->version);
	case FEATURE_ARCH:
		return read_one_string(data, cursor, &info->arch);
	case FEATURE_CPUDESC:
		return read_one_string(data, cursor, &info->cpu_desc);
	case FEATURE_CPUID:
		return read_one_string(data, cursor, &info->cpuid);
	case FEATURE_NRCPUS:
		info->cpus_available = cursor_u32(cursor);
		info->cpus_online = cursor_u32(cursor);
		return 0;
	case FEATURE_TOTAL_MEM:
		info->total_mem_kb = cursor_u64(cursor);
		return 0;
	case FEATURE_CMDLINE:
		return read_strings(data, cursor, &info->cmdline, &info->cmdline_count);
	case FEATURE_EVENT_DESC:
		return read_event_desc(data, cursor);
	case FEATURE_GROUP_DESC:
		return read_group_desc(data, cursor);
	case FEATURE_SAMPLE_TIME:
		info->sample_time_first = cursor_u64(cursor);
		info->sample_time_last = cursor_u64(cursor);
		info->has_sample_time = !cursor->failed;
		return 0;
	case FEATURE_CLOCKID:
		info->clockid_resolution = cursor_u64(cursor);
		return 0;
	case FEATURE_CLOCK_DATA:
		cursor_u32(cursor); /* version, 1 */
		info->clockid = cursor_u32(cursor);
		info->clock_wall_ns = cursor_u64(cursor);
		info->clock_event_ns = cursor_u64(cursor);
		info->has_clock_data = !cursor->failed;
		return 0;
	default:
		return 0;
	}
}

static int name_events(struct tally_data *data)
{
	for (size_t i = 0; i < data->event_count; i++) {
		struct tally_data_event *event = &data->events[i];

		if (!event->name)
			event->name = tally_file_event_name(&data->arena, &event->attr);
		if (!event->name)
			return -ENOMEM;
	}
	return 0;
}

int tally_file_features_read(struct tally_data *data, struct tally_error *error)
{
	int code = 0;

	memcpy(data->info.features, data->features, sizeof(data->features));
	for (unsigned feature = 0; feature < FILE_FEATURES && !code; feature++) {
		struct file_cursor cursor;

		if (!data->has_section[feature])
			continue;
		cursor = section_cursor(data, feature);
		code = read_feature(data, feature, &cursor);
		if (cursor.failed)
			tally_file_damage(data, data->sections[feature].offset, 0,
					  "feature %u at byte %llu does not hold what it should",
					  feature,
					  (unsigned long long)data->sections[feature].offset);
	}
	if (!code)
		code = name_events(data);
	if (code)
		return tally_fail(error, code, -1, "%s: out of memory for its features",
				  data->path);
	return 0;
}
