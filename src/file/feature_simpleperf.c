/* What simpleperf says of the recording.  Source: its record_file_format.h, as its files follow it.
 */
#include <errno.h>
#include <string.h>
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
static void set_tracing(struct tally_data *data, struct file_cursor body, uint64_t offset)
{
	uint32_t size = cursor_u32(&body);
	const uint8_t *bytes = cursor_bytes(&body, size);

	if (!bytes)
		return;
	data->has_section[FEATURE_TRACING_DATA] = true;
	data->sections[FEATURE_TRACING_DATA] =
	    (struct file_payload){.bytes = bytes, .offset = offset, .size = size};
}

static bool is_tracing(uint32_t type)
{
	return type == PERF_RECORD_HEADER_TRACING_DATA || type == SIMPLE_PERF_RECORD_TRACING_DATA;
}

/* A record of simpleperf's own that is longer than a header can say is in pieces: what is in
 * SPLIT records, up to one that is SPLIT_END, is its header and its bytes, one behind the other.
 * Source: simpleperf's record_file_writer.cpp. */
struct pieces {
	uint64_t start, end; /* of the SPLIT records; `end`: where the one behind them is */
	size_t size;         /* what is in them */
};

static bool find_pieces(const struct tally_data *data, uint64_t at, struct pieces *ret)
{
	struct file_record_header header;

	*ret = (struct pieces){.start = at, .end = at};
	while (tally_file_fit(&data->records, data->swapped, ret->end, &header) != FILE_FIT_NONE &&
	       header.type == SIMPLE_PERF_RECORD_SPLIT) {
		ret->size += header.size - 8U;
		ret->end += header.extent;
	}
	return header.type == SIMPLE_PERF_RECORD_SPLIT_END;
}

/* 0 or -ENOMEM. Other records than tracing data are left as they are. */
static int join_tracing(struct tally_data *data, const struct pieces *pieces)
{
	struct file_record_header header;
	struct file_cursor first =
	    file_region_cursor(&data->records, data->swapped, pieces->start + 8, pieces->size);
	uint8_t *bytes, *to;

	if (pieces->size < 8 || !is_tracing(cursor_u32(&first)))
		return 0;
	to = bytes = tally_arena_alloc(&data->arena, pieces->size);
	if (!bytes)
		return -ENOMEM;
	for (uint64_t at = pieces->start; at < pieces->end; at += header.extent) {
		tally_file_fit(&data->records, data->swapped, at, &header);
		memcpy(to, data->records.bytes + at + 8, header.size - 8U);
		to += header.size - 8U;
	}
	set_tracing(data,
		    (struct file_cursor){
			.at = bytes + 8, .end = bytes + pieces->size, .swapped = data->swapped},
		    pieces->start + 20);
	return 0;
}

int tally_feature_simpleperf_tracing(struct tally_data *data)
{
	const struct file_region *region = &data->records;
	struct file_record_header header;
	uint64_t at = region->start;

	if (!data->has_section[TALLY_FEATURE_SIMPLEPERF_META_INFO])
		return 0;
	for (unsigned i = 0;
	     i < FIRST_RECORDS && !data->has_section[FEATURE_TRACING_DATA] && at < region->end &&
	     tally_file_fit(region, data->swapped, at, &header) != FILE_FIT_NONE;
	     i++, at += header.extent) {
		struct pieces pieces;
		int result;

		if (is_tracing(header.type))
			set_tracing(
			    data,
			    file_region_cursor(region, data->swapped, at + 8, header.size - 8U),
			    at + 12);
		if (header.type != SIMPLE_PERF_RECORD_SPLIT)
			continue;
		if (!find_pieces(data, at, &pieces))
			return 0;
		result = join_tracing(data, &pieces);
		if (result)
			return result;
		at = pieces.end;
		header.extent = 8; /* the SPLIT_END */
	}
	return 0;
}
