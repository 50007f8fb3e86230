/* Finds the records again after a damaged place: a series of headers that are all possible.
 *
 * A single possible header of 8 bytes is found by chance in any stack dump; a series of them, each
 * leading to the next, with sizes that their types can have and ids that the file knows, is not. */
#include "file/data_file.h"

#include "file/extent.h"
#include "wire/record_size.h"

#define CHAIN 6 /* records in a series */

static bool type_and_size_go(const struct file_record_header *header)
{
	unsigned least;

	if (header->size < 8)
		return false;
	if (header->size % 8 && !tally_file_odd_size_allowed(header->type))
		return false;
	if (header->type > FILE_SIMPLEPERF_FIRST && header->type <= FILE_SIMPLEPERF_LAST)
		return true;
	least = tally_record_least_size(header->type);
	return least && header->size >= least;
}

/* Whether a sample is long enough for the fields at fixed offsets of its event. */
static bool sample_goes(const struct tally_data *data, const struct file_region *region,
			uint64_t at, const struct file_record_header *header)
{
	int event = tally_file_event_of(data, region->bytes + at, header->type, header->size,
					data->swapped);

	return event >= 0 && ((size_t)event >= data->event_count ||
			      header->size >= data->events[event].layout.variable_at);
}

static bool is_run(const struct tally_data *data, const struct file_region *region, uint64_t at,
		   unsigned count)
{
	for (unsigned seen = 0; seen < count; seen++) {
		uint64_t left = region->end - at;
		struct file_record_header header;

		if (!left)
			return seen > 0;
		if (left < 8)
			return region->cut && seen > 1;
		header = tally_file_record_header(region, data->swapped, at);
		if (!type_and_size_go(&header))
			return false;
		if (header.size > left)
			return region->cut && seen > 1;
		if (header.type == PERF_RECORD_SAMPLE && !sample_goes(data, region, at, &header))
			return false;
		header.extent = tally_file_extent(region, data->swapped, at, &header);
		if (header.extent > left)
			return region->cut && seen > 1;
		at += header.extent;
	}
	return true;
}

static uint64_t find_run(const struct tally_data *data, const struct file_region *region,
			 uint64_t from, uint64_t end)
{
	/* Records are 8-byte aligned relative to the data's start, until one of an odd size came.
	 */
	unsigned step = region->odd_sizes ? 1 : 8;
	uint64_t at = from;

	if (step == 8)
		at = region->start + align_up(from - region->start, 8);
	for (; at < end && end - at >= 8; at += step)
		if (is_run(data, region, at, CHAIN))
			return at;
	return end;
}

uint64_t tally_file_resync(const struct tally_data *data, const struct file_region *region,
			   uint64_t from)
{
	return find_run(data, region, from, region->end);
}

bool tally_file_ends_at(const struct tally_data *data, const struct file_region *region,
			uint64_t at, uint64_t end)
{
	if (end < at + 8 || end > region->end ||
	    (end < region->end && !is_run(data, region, end, 1)))
		return false;
	return find_run(data, region, at + 8, end) == end;
}
