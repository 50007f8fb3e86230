/* Finding the records again behind a damaged place: a run of headers that could all be true.
 *
 * One header of 8 bytes is found by chance in any stack dump; a chain of them, each leading to the
 * next, with sizes that their types can have and ids that the file knows, is not. */
#include "file/data_file.h"

#include "file/extent.h"

#define CHAIN 6 /* records in a row that make a run */

/* The least size of each kernel record, without trailer.  Source: the layouts in
 * include/uapi/linux/perf_event.h; 0: no such type. */
static const uint8_t least[] = {
    [PERF_RECORD_MMAP] = 48,
    [PERF_RECORD_LOST] = 24,
    [PERF_RECORD_COMM] = 24,
    [PERF_RECORD_EXIT] = 32,
    [PERF_RECORD_THROTTLE] = 32,
    [PERF_RECORD_UNTHROTTLE] = 32,
    [PERF_RECORD_FORK] = 32,
    [PERF_RECORD_READ] = 24,
    [PERF_RECORD_SAMPLE] = 16,
    [PERF_RECORD_MMAP2] = 80,
    [PERF_RECORD_AUX] = 32,
    [PERF_RECORD_ITRACE_START] = 16,
    [PERF_RECORD_LOST_SAMPLES] = 16,
    [PERF_RECORD_SWITCH] = 8,
    [PERF_RECORD_SWITCH_CPU_WIDE] = 16,
    [PERF_RECORD_NAMESPACES] = 24,
    [PERF_RECORD_KSYMBOL] = 32,
    [PERF_RECORD_BPF_EVENT] = 24,
    [PERF_RECORD_CGROUP] = 24,
    [PERF_RECORD_TEXT_POKE] = 24,
    [PERF_RECORD_AUX_OUTPUT_HW_ID] = 16,
    [PERF_RECORD_CALLCHAIN_DEFERRED] = 24,
};

static bool type_and_size_go(const struct file_record_header *header)
{
	if (header->size < 8)
		return false;
	if (header->size % 8 && !tally_file_odd_size_allowed(header->type))
		return false;
	if (header->type < sizeof(least))
		return least[header->type] && header->size >= least[header->type];
	return (header->type >= PERF_RECORD_HEADER_ATTR &&
		header->type <= PERF_RECORD_SCHEDSTAT_DOMAIN) ||
	       (header->type > FILE_SIMPLEPERF_FIRST && header->type <= FILE_SIMPLEPERF_LAST);
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
		if (header.type == PERF_RECORD_SAMPLE &&
		    tally_file_event_of(data, region->bytes + at, header.type, header.size,
					data->swapped) < 0)
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
