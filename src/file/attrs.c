/* The attr table: one entry for each event, {attr, section of its ids}. Source: the perf.data
 * format; the sizes of attrs: include/uapi/linux/perf_event.h. */
#include "file/data_file.h"

#include <errno.h>
#include <stdlib.h>
#include "base/fail.h"
#include "wire/attr_wire.h"

/* The offset of the section of ids in an entry: directly after the attr, whose size member gives
 * its length (perf writes entries of attr.size + 16 bytes).  If that is impossible, the entry's
 * last 16 bytes. */
static uint64_t ids_place(const struct tally_data *data, uint64_t attr_size)
{
	uint64_t last = data->attr_size - 16;

	return attr_size >= 64 && attr_size <= last ? attr_size : last;
}

int tally_file_add_ids(struct tally_data *data, size_t index, struct file_cursor cursor)
{
	struct tally_data_event *event = &data->events[index];
	size_t count = cursor_left(&cursor) / 8;

	if (!count)
		return 0;
	if (!data->swapped && (uintptr_t)cursor.at % 8 == 0) {
		event->ids = (const uint64_t *)(const void *)cursor.at;
	} else {
		uint64_t *ids = tally_arena_alloc(&data->arena, count * 8);

		if (!ids)
			return -ENOMEM;
		for (size_t i = 0; i < count; i++)
			ids[i] = cursor_u64(&cursor);
		event->ids = ids;
	}
	event->id_count = count;
	for (size_t i = 0; i < count; i++) {
		bool added;
		uint64_t *value = tally_map_put(&data->ids, event->ids[i], &added);

		if (!value)
			return -ENOMEM;
		if (added)
			*value = index;
	}
	return 0;
}

static int add_ids(struct tally_data *data, size_t index, struct file_section section)
{
	struct file_cursor cursor = file_cursor_at(data, section.offset, section.size);
	size_t count = cursor_left(&cursor) / 8;
	/* No id is written twice, so all tables together cannot be longer than the file.  Without
	 * this limit, a file whose entries all name the same large table would need a multiple of
	 * its size. */
	size_t most = data->file.size / 8 - data->ids.count;

	if (section.size % 8 || section.size / 8 != count || count > most) {
		tally_file_damage(data, section.offset, 0,
				  "ids of event %zu at byte %llu (%llu bytes) do not fit the file",
				  index, (unsigned long long)section.offset,
				  (unsigned long long)section.size);
		if (count > most)
			return 0;
	}
	return tally_file_add_ids(data, index, cursor);
}

uint32_t tally_file_attr_read(const uint8_t *bytes, size_t room, bool swapped,
			      struct tally_attr *ret)
{
	uint8_t known[sizeof(*ret)] = {0};
	uint32_t said, size;

	memcpy(known, bytes, room < sizeof(known) ? room : sizeof(known));
	if (swapped)
		tally_attr_swap(known, sizeof(known), true);
	said = load_u32(known + offsetof(struct tally_attr, size));
	if (!said)
		said = PERF_ATTR_SIZE_VER0;
	/* No attr is shorter than the first version; bytes after its end do not belong to the
	 * attr. */
	size = said < PERF_ATTR_SIZE_VER0 ? PERF_ATTR_SIZE_VER0 : said;
	tally_attr_decode(known, size < sizeof(known) ? size : sizeof(known), ret, NULL);
	ret->size = size;
	return said;
}

static int read_entry(struct tally_data *data, size_t index)
{
	struct tally_data_event *event = &data->events[index];
	uint64_t at = data->attrs.offset + index * data->attr_size;
	struct file_cursor entry = file_cursor_at(data, at, data->attr_size);
	uint32_t size = tally_file_attr_read(entry.at, (size_t)data->attr_size - 16, data->swapped,
					     &event->attr);
	struct file_section ids;

	entry.at += ids_place(data, size);
	ids.offset = cursor_u64(&entry);
	ids.size = cursor_u64(&entry);
	tally_layout_init(&event->layout, &event->attr);
	event->leader = (uint32_t)index;
	return add_ids(data, index, ids);
}

int tally_file_attrs_read(struct tally_data *data, struct tally_error *error)
{
	struct file_cursor table = file_cursor_at(data, data->attrs.offset, data->attrs.size);
	uint64_t size = data->attr_size, count;

	if (size < 64 + 16 || size > 65536)
		return tally_fail(error, -EBADMSG, 16,
				  "%s: its events cannot be read: byte 16 of the header gives %llu "
				  "bytes for an attr, which is invalid; record again",
				  data->path, (unsigned long long)size);
	count = cursor_left(&table) / size;
	if (!count)
		return tally_fail(error, -EBADMSG, 24,
				  "%s: no events: the attr table (%llu bytes from byte %llu on) is "
				  "empty or outside of the file's %zu bytes",
				  data->path, (unsigned long long)data->attrs.size,
				  (unsigned long long)data->attrs.offset, data->file.size);
	if (count > FILE_EVENTS_MAX)
		count = FILE_EVENTS_MAX;
	if (count * size != data->attrs.size)
		tally_file_damage(data, 24, 0,
				  "the attr table (%llu bytes from byte %llu on) is incomplete or "
				  "has a rest: %llu events were read",
				  (unsigned long long)data->attrs.size,
				  (unsigned long long)data->attrs.offset,
				  (unsigned long long)count);
	data->events = calloc(count, sizeof(*data->events));
	if (!data->events)
		return tally_fail(error, -ENOMEM, -1, "%s: out of memory for %llu events",
				  data->path, (unsigned long long)count);
	data->event_count = count;
	for (size_t i = 0; i < count; i++) {
		int code = read_entry(data, i);

		if (code)
			return tally_fail(error, code, -1,
					  "%s: out of memory for the ids of events", data->path);
	}
	return 0;
}
