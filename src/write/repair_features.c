/* The features of a repaired file: those that do not depend on others are kept, those with attrs or
 * offsets in the file are made again, those about how records were stored are left out. */
#include "write/repair.h"

#include <errno.h>
#include <string.h>
#include "base/bits.h"
#include "base/bytes.h"
#include "write/shape.h"
#include "write/writer.h"

#define NATIVE_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* --- the formats of tracepoints --- */

static bool skip_text(struct file_cursor *at, const char *text)
{
	size_t size = strlen(text) + 1;
	const uint8_t *bytes = cursor_bytes(at, size);

	return bytes && !memcmp(bytes, text, size);
}

static void skip_sized(struct file_cursor *at)
{
	cursor_bytes(at, cursor_u64(at));
}

/* Readers trust its sizes, so it is useless unless all of it is valid.  Source: trace-cmd's format,
 * version 0.5 and later: {17 08 44 "tracing", version, order, size of long, page size, two headers,
 * ftrace's formats, the systems' formats, kallsyms, printk formats, since 0.6 the names of
 * processes}. */
bool tally_repair_trusts_tracing(const uint8_t *bytes, size_t size)
{
	static const uint8_t magic[10] = "\x17\x08\x44tracing";
	struct file_cursor at = {.at = bytes, .end = bytes + size};
	const uint8_t *text = cursor_bytes(&at, sizeof(magic)), *order;
	uint32_t count;

	if (!text || memcmp(text, magic, sizeof(magic)) != 0)
		return false;
	text = memchr(at.at, 0, cursor_left(&at));
	cursor_bytes(&at, text ? (uint64_t)(text - at.at) + 1 : UINT64_MAX);
	order = cursor_bytes(&at, 2);
	at.swapped = order && order[0] != NATIVE_BIG;
	cursor_u32(&at);
	if (!skip_text(&at, "header_page"))
		return false;
	skip_sized(&at);
	if (!skip_text(&at, "header_event"))
		return false;
	skip_sized(&at);
	for (count = cursor_count(&at, 8); count && !at.failed; count--)
		skip_sized(&at);
	for (uint32_t systems = cursor_count(&at, 5); systems && !at.failed; systems--) {
		text = memchr(at.at, 0, cursor_left(&at));
		cursor_bytes(&at, text ? (uint64_t)(text - at.at) + 1 : UINT64_MAX);
		for (count = cursor_count(&at, 8); count && !at.failed; count--)
			skip_sized(&at);
	}
	cursor_bytes(&at, cursor_u32(&at));
	cursor_bytes(&at, cursor_u32(&at));
	return !at.failed;
}

/* --- one feature --- */

/* Names by index, with the attrs as they are in the table. */
static void add_event_desc(const struct file_repair *repair, struct tally_buf *to)
{
	const struct tally_data *data = repair->data;

	tally_buf_u32(to, (uint32_t)data->event_count);
	tally_buf_u32(to, repair->result.attr_size);
	for (size_t i = 0; i < data->event_count; i++) {
		const struct tally_data_event *event = &data->events[i];

		tally_buf_add(to, &repair->attrs[i], repair->result.attr_size);
		tally_buf_u32(to, (uint32_t)event->id_count);
		tally_file_add_string(to, event->name);
		tally_buf_add(to, event->ids, event->id_count * 8);
	}
}

void tally_repair_build_ids(const struct file_repair *repair, struct tally_buf *to)
{
	const struct tally_data_info *info = &repair->data->info;
	const struct tally_repair_options *options = &repair->options;

	/* No file has a name that is too long for a record. */
	for (size_t i = 0; i < info->build_id_count; i++)
		tally_file_add_build_id(to, &info->build_ids[i]);
	for (size_t i = 0; i < options->build_id_count; i++)
		tally_file_add_build_id(to, &options->build_ids[i]);
}

bool tally_repair_kept(const struct tally_data *data, unsigned feature, struct tally_buf *to)
{
	const struct file_payload *payload = &data->sections[feature];
	const char *shape = tally_file_shape(feature);
	struct file_cursor cursor = {
	    .at = payload->bytes, .end = payload->bytes + payload->size, .swapped = data->swapped};

	if (!shape) {
		/* A section that this library cannot convert is valid in its writer's byte order
		 * only. */
		if (data->swapped)
			return false;
		tally_buf_add(to, payload->bytes, payload->size);
		return true;
	}
	return tally_file_shape_walk(shape, cursor, data->info.cpus_available, to);
}

/* Adds a feature's payload; false when it is lost. */
bool tally_repair_feature(const struct file_repair *repair, unsigned feature, struct tally_buf *to)
{
	const struct tally_data *data = repair->data;
	const struct file_payload *payload = &data->sections[feature];

	switch (feature) {
	case FEATURE_TRACING_DATA:
		if (!tally_repair_trusts_tracing(payload->bytes, payload->size))
			return false;
		tally_buf_add(to, payload->bytes, payload->size);
		return true;
	case FEATURE_BUILD_ID:
		tally_repair_build_ids(repair, to);
		return true;
	case FEATURE_EVENT_DESC:
		add_event_desc(repair, to);
		return true;
	case FEATURE_AUXTRACE:
		tally_buf_u64(to, repair->aux_count);
		tally_buf_add(to, repair->aux.data, repair->aux.size);
		return true;
	default:
		return tally_repair_kept(data, feature, to);
	}
}

bool tally_repair_wants(const struct file_repair *repair, unsigned feature)
{
	const struct tally_data *data = repair->data;

	switch (feature) {
	case FEATURE_DIR_FORMAT: /* how the old file was stored */
	case FEATURE_COMPRESSED:
	case FILE_FEATURE_CHECKPOINT:
		return false;
	case FEATURE_EVENT_DESC: /* a stream may have given names one by one */
		return data->has_section[feature] || data->kind == TALLY_DATA_PIPE;
	case FEATURE_BUILD_ID:
		return data->has_section[feature] || repair->options.build_id_count;
	case FEATURE_AUXTRACE:
		return repair->aux_count;
	default:
		return data->has_section[feature];
	}
}

static bool has_tracepoints(const struct tally_data *data)
{
	for (size_t i = 0; i < data->event_count; i++)
		if (data->events[i].attr.type == PERF_TYPE_TRACEPOINT)
			return true;
	return false;
}

int tally_repair_features(struct file_repair *repair)
{
	struct tally_repair_result *result = &repair->result;
	struct tally_buf *payloads = &repair->file.payloads;

	for (unsigned feature = 0; feature < FILE_FEATURES; feature++) {
		size_t before = payloads->size;

		if (!tally_repair_wants(repair, feature))
			continue;
		if (!tally_repair_feature(repair, feature, payloads)) {
			payloads->size = before;
			if (!result->features_lost++)
				result->first_feature_lost = feature;
			continue;
		}
		tally_plain_file_feature(&repair->file, feature);
		result->features++;
	}
	result->formats_missing =
	    has_tracepoints(repair->data) && !bits_has(repair->file.features, FEATURE_TRACING_DATA);
	return payloads->failed;
}
