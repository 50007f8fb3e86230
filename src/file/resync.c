/* Finds the records again after a damaged place: a series of headers that are all possible.
 *
 * A single possible header of 8 bytes is found by chance in any stack dump; a series of them, each
 * leading to the next, with sizes that their types can have and ids that the file knows, is not. */
#include "file/data_file.h"

#include <errno.h>
#include <unistd.h>
#include "file/extent.h"
#include "wire/record_size.h"

#define CHAIN 6 /* records in a series */
/* Zeros in a row before the file is asked whether they are stored at all. */
#define HOLE_LEAST ((uint64_t)1 << 20)
#define HOLES_MOST 65536U /* more are not counted */

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
	return least && align_up(header->size, 8) >= least;
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

/* Whether places of the region are those of the open file. */
static bool is_own_file(const struct tally_data *data, const struct file_region *region)
{
	return data->fd >= 0 && !data->archive && !data->stream && !data->live &&
	       region->bytes == data->file.data;
}

/* The first byte from `at` on that a record with something in it may begin at: behind the hole of
 * the file that `at` is in, if it is in one. */
static uint64_t pass_hole(const struct tally_data *data, const struct file_region *region,
			  uint64_t at, uint64_t end)
{
	off_t next;

	if (!is_own_file(data, region))
		return at;
	next = lseek(data->fd, (off_t)at, SEEK_DATA);
	if (next < 0) /* ENXIO: nothing but holes follows */
		return errno == ENXIO ? end : at;
	/* The upper bytes of a type, which comes first in a header, are 0. */
	return (uint64_t)next > at + 8 ? (uint64_t)next - 8 : at;
}

static uint64_t find_run(const struct tally_data *data, const struct file_region *region,
			 uint64_t from, uint64_t end)
{
	uint64_t zeros = 0, look = HOLE_LEAST;
	/* Records are 8-byte aligned relative to the data's start, until one of an odd size came.
	 */
	unsigned step = region->odd_sizes ? 1 : 8;
	uint64_t at = from;

	if (step == 8)
		at = region->start + align_up(from - region->start, 8);
	for (; at < end && end - at >= 8; at += step) {
		if (load_u64(region->bytes + at)) {
			zeros = 0;
			look = HOLE_LEAST;
			if (is_run(data, region, at, CHAIN))
				return at;
			continue;
		}
		zeros += step;
		if (zeros < look)
			continue;
		look = zeros + HOLE_LEAST;
		at += align_up(pass_hole(data, region, at, end) - at, 8);
	}
	return end;
}

uint64_t tally_file_holes(const struct tally_data *data, const struct file_region *region,
			  uint64_t from, uint64_t end)
{
	uint64_t sum = 0;

	for (unsigned looks = 0; from < end && looks < HOLES_MOST && is_own_file(data, region);
	     looks++) {
		off_t hole = lseek(data->fd, (off_t)from, SEEK_HOLE), next;

		if (hole < 0 || (uint64_t)hole >= end)
			break;
		next = lseek(data->fd, hole, SEEK_DATA);
		from = next < 0 || (uint64_t)next > end ? end : (uint64_t)next;
		sum += from - (uint64_t)hole;
	}
	return sum;
}

uint64_t tally_file_resync(const struct tally_data *data, const struct file_region *region,
			   uint64_t from)
{
	return find_run(data, region, from, region->end);
}

bool tally_file_goes_on(const struct tally_data *data, const struct file_region *region,
			uint64_t at)
{
	return at == region->end || is_run(data, region, at, 1);
}

bool tally_file_ends_at(const struct tally_data *data, const struct file_region *region,
			uint64_t at, uint64_t end)
{
	if (end < at + 8 || end > region->end || !tally_file_goes_on(data, region, end))
		return false;
	return find_run(data, region, at + 8, end) == end;
}
