/* The header of a record in the file, in either byte order, and the record's extent. */
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

static inline struct file_cursor file_region_cursor(const struct file_region *region, bool swapped,
						    uint64_t at, uint64_t size)
{
	return (struct file_cursor){
	    .at = region->bytes + at,
	    .end = region->bytes + at + size,
	    .swapped = swapped,
	};
}

/* The offset of a place in a region, for messages. */
static inline unsigned long long file_region_place(const struct file_region *region, uint64_t at)
{
	return region->packed ? region->packed_at : at;
}

/* Needs 8 bytes at `at`. */
static inline struct file_record_header tally_file_record_header(const struct file_region *region,
								 bool swapped, uint64_t at)
{
	struct file_cursor cursor = file_region_cursor(region, swapped, at, 8);
	struct file_record_header header = {.type = cursor_u32(&cursor)};

	header.misc = cursor_u16(&cursor);
	header.size = cursor_u16(&cursor);
	return header;
}

/* Records that end in a name. */
static inline bool file_odd_name(uint32_t type)
{
	return type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2 || type == PERF_RECORD_COMM;
}

/* Records of the perf tool may be of any size; those of the kernel are filled up to a multiple
 * of 8. Source: the perf.data format: compressed records, trace data and features of pipes are as
 * long as their payload, build-ids 36 bytes longer than a name filled up to 64; perf up to 4.x did
 * not fill up lists of CPUs, which events' updates have too.  OpenHarmony's hiperf does not fill up
 * the names in records of the kernel's types that it makes itself (file_odd_name()). */
static inline bool tally_file_odd_size_allowed(uint32_t type)
{
	return (type >= PERF_RECORD_HEADER_ATTR && tally_record_type_name(type)) ||
	       (type > FILE_SIMPLEPERF_FIRST && type <= FILE_SIMPLEPERF_LAST) ||
	       file_odd_name(type);
}

/* Needs header->size bytes at `at`. */
static inline uint64_t tally_file_extent(const struct file_region *region, bool swapped,
					 uint64_t at, const struct file_record_header *header)
{
	struct file_cursor cursor = file_region_cursor(region, swapped, at + 8, header->size - 8U);
	uint64_t outside = 0;

	if (header->type == PERF_RECORD_AUXTRACE && header->size >= 16)
		outside = cursor_u64(&cursor);
	else if (header->type == PERF_RECORD_HEADER_TRACING_DATA && header->size >= 12)
		outside = tally_tracing_data_outside(header->size, cursor_u32(&cursor));
	if (outside > INT64_MAX)
		return UINT64_MAX;
	return header->size + align_up(outside, 8);
}

enum file_fit {
	FILE_FIT_NONE,  /* no record is possible here */
	FILE_FIT_WHOLE, /* a record, with the bytes after it that belong to it */
	FILE_FIT_ODD,   /* the same, of a size that is no multiple of 8, as its type allows */
};

/* Whether there is a record at an offset of the region; *ret is its header, as far as there is
 * one. */
static inline enum file_fit tally_file_fit(const struct file_region *region, bool swapped,
					   uint64_t at, struct file_record_header *ret)
{
	uint64_t left = region->end - at;

	*ret = (struct file_record_header){0};
	if (left < 8)
		return FILE_FIT_NONE;
	*ret = tally_file_record_header(region, swapped, at);
	ret->extent = ret->size;
	if (ret->size < 8 || ret->size > left)
		return FILE_FIT_NONE;
	ret->extent = tally_file_extent(region, swapped, at, ret);
	if (ret->extent > left)
		return FILE_FIT_NONE;
	if (ret->size % 8 == 0)
		return FILE_FIT_WHOLE;
	return tally_file_odd_size_allowed(ret->type) ? FILE_FIT_ODD : FILE_FIT_NONE;
}

#endif
