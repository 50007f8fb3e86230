/* The head of a record where it stands in the file, in either byte order, and how far it reaches.
 */
#ifndef TALLY_FILE_EXTENT_H
#define TALLY_FILE_EXTENT_H

#include "file/data_file.h"

/* Types of records that simpleperf adds; some have sizes that are no multiple of 8.
 * Source: simpleperf's record types, as perfdata files of Android hold them. */
#define FILE_SIMPLEPERF_FIRST 32768
#define FILE_SIMPLEPERF_LAST  32800

struct file_record_header {
	uint32_t type;
	uint16_t misc, size;
	uint64_t extent; /* bytes to the next record; tally_file_extent() gives it */
};

/* Needs 8 bytes at `at`. */
static inline struct file_record_header tally_file_record_header(const struct tally_data *data,
								 uint64_t at)
{
	struct file_cursor cursor = file_cursor_at(data, at, 8);
	struct file_record_header header = {.type = cursor_u32(&cursor)};

	header.misc = cursor_u16(&cursor);
	header.size = cursor_u16(&cursor);
	return header;
}

/* Source: the perf.data format: compressed records are as long as their payload, trace data and
 * features of pipes as long as theirs. */
static inline bool tally_file_odd_size_allowed(uint32_t type)
{
	return type == PERF_RECORD_COMPRESSED || type == PERF_RECORD_HEADER_TRACING_DATA ||
	       type == PERF_RECORD_HEADER_FEATURE ||
	       (type > FILE_SIMPLEPERF_FIRST && type <= FILE_SIMPLEPERF_LAST);
}

/* Needs header->size bytes at `at`. */
static inline uint64_t tally_file_extent(const struct tally_data *data, uint64_t at,
					 const struct file_record_header *header)
{
	struct file_cursor cursor = file_cursor_at(data, at + 8, header->size - 8U);
	uint64_t outside = 0;

	if (header->type == PERF_RECORD_AUXTRACE && header->size >= 16)
		outside = cursor_u64(&cursor);
	else if (header->type == PERF_RECORD_HEADER_TRACING_DATA && header->size >= 12)
		outside = cursor_u32(&cursor);
	if (outside > INT64_MAX)
		return UINT64_MAX;
	return header->size + align_up(outside, 8);
}

#endif
