/* A stream: a header, then only records.  The attr table and the features, which a file has in its
 * header, are records too, most of them before the first sample.  One pass finds them all, so that
 * events and features are known before records are read.  Source: the perf.data format in pipe
 * mode, as perf 2.6.35 to 7.0 writes it. */
#include "file/data_file.h"

#include <errno.h>
#include <stdlib.h>
#include "base/fail.h"
#include "base/table.h"
#include "file/extent.h"
#include "file/feature.h"
#include "file/live.h"

/* What an EVENT_UPDATE changes: its type, and the data. */
#define UPDATE_UNIT  0
#define UPDATE_SCALE 1
#define UPDATE_NAME  2
#define UPDATE_CPUS  3

/* Updates are four an event. */
#define UPDATES_MOST (4U * FILE_EVENTS_MAX)
/* No mask has more CPUs. */
#define CPUS_MOST 65536U

/* The pass over a stream releases the memory of passed bytes in steps of this size. */
#define FORGET_AFTER ((uint64_t)4 << 20)

struct update {
	uint64_t type, id;
	struct file_cursor data;
};

struct file_updates {
	size_t count, room;
	struct update list[];
};

static int add_attr(struct tally_data *data, struct file_cursor body, size_t *room)
{
	struct tally_data_event *event;
	size_t left = cursor_left(&body);
	uint32_t size;

	if (left < 8 || data->event_count == FILE_EVENTS_MAX)
		return 0;
	if (!array_next(&data->events, room, data->event_count, 16, sizeof(*data->events)))
		return -ENOMEM;
	event = &data->events[data->event_count];
	*event = (struct tally_data_event){.leader = (uint32_t)data->event_count};
	size = tally_file_attr_read(body.at, left, data->swapped, &event->attr);
	tally_layout_init(&event->layout, &event->attr);
	data->event_count++;
	body.at += size < left ? size : left;
	return tally_file_add_ids(data, data->event_count - 1, body);
}

static void set_feature(struct tally_data *data, uint64_t feature, struct file_payload payload)
{
	if (!feature || feature >= FILE_FEATURES)
		return;
	/* An empty feature with a number that nobody uses ends the features; writers use different
	 * numbers. */
	if (!payload.size && feature > FEATURE_PMU_CAPS)
		return;
	bits_add(data->features, feature);
	data->has_section[feature] = true;
	data->sections[feature] = payload;
}

static int add_update(struct file_updates **updates, struct file_cursor body)
{
	struct file_updates *list = *updates;
	struct update made = {.type = cursor_u64(&body)};

	made.id = cursor_u64(&body);
	made.data = body;
	if (body.failed || (list && list->count == UPDATES_MOST))
		return 0;
	if (!list || list->count == list->room) {
		size_t room = list ? list->room * 2 : 16;

		list = realloc(list, sizeof(*list) + room * sizeof(list->list[0]));
		if (!list)
			return -ENOMEM;
		if (!*updates)
			list->count = 0;
		list->room = room;
		*updates = list;
	}
	list->list[list->count++] = made;
	return 0;
}

static int take_record(struct tally_data *data, uint64_t at,
		       const struct file_record_header *header, size_t *room)
{
	const uint8_t *bytes = data->file.data + at;
	struct file_cursor body =
	    file_region_cursor(&data->records, data->swapped, at + 8, header->size - 8U);

	switch (header->type) {
	case PERF_RECORD_HEADER_ATTR:
		return add_attr(data, body, room);
	case PERF_RECORD_EVENT_UPDATE:
		return add_update(&data->updates, body);
	case PERF_RECORD_HEADER_TRACING_DATA:
		set_feature(data, FEATURE_TRACING_DATA,
			    (struct file_payload){
				.bytes = bytes + header->size,
				.offset = at + header->size,
				.size = (size_t)(header->extent - header->size),
			    });
		return 0;
	case PERF_RECORD_HEADER_BUILD_ID:
		/* The section is such records too, one behind the other. */
		tally_buf_add(&data->build_ids, bytes, header->size);
		return data->build_ids.failed;
	case PERF_RECORD_HEADER_FEATURE: {
		uint64_t feature = cursor_u64(&body);

		if (!body.failed)
			set_feature(data, feature,
				    (struct file_payload){
					.bytes = body.at,
					.offset = at + 16,
					.size = cursor_left(&body),
				    });
		return 0;
	}
	default:
		return 0;
	}
}

int tally_file_stream_read(struct tally_data *data, struct tally_error *error)
{
	struct file_region *region = &data->records;
	uint64_t at = FILE_HEADER_PIPE_SIZE, seen = 0;
	size_t room = 0;
	int code = 0;

	*region = (struct file_region){
	    .bytes = data->file.data,
	    .start = at,
	    .end = data->file.size,
	    .name = "",
	    .cut = true, /* its intended end is unknown */
	};
	while (!code && at < region->end) {
		struct file_record_header header;
		enum file_fit fit = tally_file_fit(region, data->swapped, at, &header);

		if (fit == FILE_FIT_NONE) {
			/* It is reported when the records are read. */
			if (data->event_count)
				tally_file_event_lookup_init(data);
			at = region->end - at < 8 ? region->end
						  : tally_file_resync(data, region, at + 8);
		} else {
			code = take_record(data, at, &header, &room);
			data->flat_needed |= fit == FILE_FIT_ODD ||
					     header.type == PERF_RECORD_COMPRESSED ||
					     header.type == PERF_RECORD_COMPRESSED2;
			region->odd_sizes |= fit == FILE_FIT_ODD;
			at += header.extent;
		}
		if (at - seen >= FORGET_AFTER) {
			tally_file_forget(region->bytes, seen, at);
			seen = at;
		}
	}
	if (code)
		return tally_fail(error, code, -1, "%s: out of memory for its events", data->path);
	if (!data->event_count)
		return tally_fail(error, -EBADMSG, FILE_HEADER_PIPE_SIZE,
				  "%s: no events: the stream of %zu bytes describes none; its "
				  "writer may have failed, see its messages",
				  data->path, data->file.size);
	if (data->build_ids.size)
		set_feature(data, FEATURE_BUILD_ID,
			    (struct file_payload){
				.bytes = data->build_ids.data,
				.size = data->build_ids.size,
			    });
	return 0;
}

/* --- updates --- */

static int add_cpu(uint32_t *cpus, size_t *count, uint32_t cpu)
{
	if (*count == CPUS_MOST)
		return 0;
	if (cpus)
		cpus[*count] = cpu;
	return ++*count <= CPUS_MOST;
}

/* Source: the CPU_MAP record: u16 type; 0: u16 count, u16 each; 1: u16 words, u16 bytes of each,
 * 4 bytes of padding when they are 8, words; 2: u8 any, u8, u16 first, u16 last. */
static void read_cpus(struct file_cursor body, uint32_t *cpus, size_t *count)
{
	uint16_t type = cursor_u16(&body), words, width;

	if (type == 2) {
		uint16_t first, last;

		cursor_bytes(&body, 2);
		first = cursor_u16(&body);
		last = cursor_u16(&body);
		for (uint32_t cpu = first; !body.failed && cpu <= last; cpu++)
			add_cpu(cpus, count, cpu);
		return;
	}
	if (type > 2)
		return;
	words = cursor_u16(&body);
	if (!type) {
		for (uint32_t i = 0; i < words; i++) {
			uint16_t cpu = cursor_u16(&body);

			if (body.failed || !add_cpu(cpus, count, cpu))
				return;
		}
		return;
	}
	width = cursor_u16(&body);
	if (width == 8)
		cursor_bytes(&body, 4);
	for (uint32_t i = 0; (width == 4 || width == 8) && i < words; i++) {
		uint64_t word = width == 8 ? cursor_u64(&body) : cursor_u32(&body);

		for (; !body.failed && word; word &= word - 1)
			if (!add_cpu(cpus, count, i * width * 8 + (uint32_t)__builtin_ctzll(word)))
				return;
	}
}

static int update_cpus(struct tally_data *data, struct tally_data_event *event,
		       struct file_cursor body)
{
	size_t count = 0;
	uint32_t *cpus;

	read_cpus(body, NULL, &count);
	if (!count)
		return 0;
	cpus = tally_arena_alloc(&data->arena, count * sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	count = 0;
	read_cpus(body, cpus, &count);
	event->cpus = cpus;
	event->cpu_count = count;
	return 0;
}

static int update_text(struct tally_data *data, const struct file_cursor *body, const char **ret)
{
	const char *text = (const char *)body->at;
	size_t length = strnlen(text, cursor_left(body));

	if (!length)
		return 0;
	text = tally_arena_strndup(&data->arena, text, length);
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}

static int apply(struct tally_data *data, struct update *update)
{
	int index = tally_data_find_event(data, update->id);
	struct tally_data_event *event;
	uint64_t scale;

	if (index < 0)
		return 0;
	event = &data->events[index];
	switch (update->type) {
	case UPDATE_UNIT:
		return update_text(data, &update->data, &event->unit);
	case UPDATE_SCALE:
		scale = cursor_u64(&update->data);
		memcpy(&event->scale, &scale, sizeof(scale));
		return 0;
	case UPDATE_NAME:
		return update_text(data, &update->data, &event->name);
	case UPDATE_CPUS:
		return update_cpus(data, event, update->data);
	default:
		return 0;
	}
}

int tally_file_stream_update(struct tally_data *data, struct tally_error *error)
{
	struct file_updates *updates = data->updates;

	for (size_t i = 0; updates && i < updates->count; i++)
		if (apply(data, &updates->list[i]))
			return tally_fail(error, -ENOMEM, -1, "%s: out of memory for its events",
					  data->path);
	free(updates);
	data->updates = NULL;
	return 0;
}

int tally_file_stream_late(struct tally_data *data, const uint8_t *bytes, size_t size)
{
	struct file_cursor body = {.at = bytes + 8, .end = bytes + size};
	struct update update = {.type = cursor_u64(&body)};

	update.id = cursor_u64(&body);
	update.data = body;
	return body.failed ? 0 : apply(data, &update);
}
