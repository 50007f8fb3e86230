/* What simpleperf says of the recording.  Source: its record_file_format.h, as its files follow it.
 */
#include "file/extent.h"
#include "file/feature_read.h"

/* Texts with a NUL behind each: key, value, key, value, ... */
int tally_feature_simpleperf_meta_info(struct tally_data *data, struct file_cursor *cursor)
{
	size_t most = cursor_left(cursor) / 2;
	struct tally_data_pair *pairs = feature_list(data, struct tally_data_pair, most);
	size_t count = 0;

	if (!pairs)
		return -ENOMEM;
	while (cursor_left(cursor) && count < most) {
		const char *text[2];

		for (size_t i = 0; i < 2; i++) {
			size_t left = cursor_left(cursor),
			       length = strnlen((const char *)cursor->at, left);

			if (length == left) {
				cursor->failed = true;
				goto done;
			}
			text[i] =
			    tally_arena_strndup(&data->arena, (const char *)cursor->at, length);
			if (!text[i])
				return -ENOMEM;
			cursor_bytes(cursor, length + 1);
		}
		pairs[count++] = (struct tally_data_pair){text[0], text[1]};
	}
done:
	data->info.meta_info = (struct tally_data_pairs){pairs, count};
	return 0;
}

/* So many records come before it at most: of the file itself. */
#define FIRST_RECORDS 16

/* {u32 size, bytes}, filled up; the bytes are as in perf's section.  Source: simpleperf's
 * record.cpp. */
void tally_feature_simpleperf_tracing(struct tally_data *data)
{
	const struct file_region *region = &data->records;
	struct file_record_header header;
	uint64_t at = region->start;

	if (data->has_section[FEATURE_TRACING_DATA] ||
	    !data->has_section[TALLY_FEATURE_SIMPLEPERF_META_INFO])
		return;
	for (unsigned i = 0; i < FIRST_RECORDS && at < region->end &&
			     tally_file_fit(region, data->swapped, at, &header) != FILE_FIT_NONE;
	     i++, at += header.extent) {
		struct file_cursor body =
		    file_region_cursor(region, data->swapped, at + 8, header.size - 8U);
		uint32_t size;
		const uint8_t *bytes;

		if (header.type != PERF_RECORD_HEADER_TRACING_DATA &&
		    header.type != SIMPLE_PERF_RECORD_TRACING_DATA)
			continue;
		size = cursor_u32(&body);
		bytes = cursor_bytes(&body, size);
		if (!bytes)
			return;
		data->has_section[FEATURE_TRACING_DATA] = true;
		data->sections[FEATURE_TRACING_DATA] =
		    (struct file_payload){.bytes = bytes, .offset = at + 12, .size = size};
		return;
	}
}
