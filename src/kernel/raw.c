#include <tally/raw.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "kernel/barrier.h"

int tally_perf_event_open(void *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
}

int tally_raw_ring_init(struct tally_raw_ring *ring, void *mapping, size_t size, void *joined)
{
	struct perf_event_mmap_page *page = mapping;
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE), offset, data;

	if (size < 2 * page_size)
		return -EINVAL;
	/* Both exist from Linux 4.1 on; before, the data was always behind the first page. */
	offset = page->data_offset ? page->data_offset : page_size;
	data = page->data_size ? page->data_size : size - page_size;
	if (!data || data & (data - 1) || data < page_size || offset > size || data > size - offset)
		return -EINVAL;
	*ring = (struct tally_raw_ring){
	    .page = page,
	    .data = (const uint8_t *)mapping + offset,
	    .size = data,
	    .at = page->data_tail,
	    .end = page->data_tail,
	    .joined = joined,
	};
	return 0;
}

int tally_raw_ring_next(struct tally_raw_ring *ring, const struct perf_event_header **ret)
{
	const struct perf_event_header *header;
	uint64_t place, until_wrap, unread;

	/* data_head is in a cache line that the kernel writes: read only when all records are read.
	 */
	if (ring->at >= ring->end)
		ring->end = barrier_load_head(ring->page);
	unread = ring->end - ring->at;
	if (!unread)
		return 0;
	if (unread > ring->size) {
		ring->at = ring->end;
		return -EOVERFLOW;
	}
	place = ring->at & (ring->size - 1);
	until_wrap = ring->size - place;
	header = (const void *)(ring->data + place);
	/* A header never wraps: records begin at multiples of 8. */
	if (place % 8 || unread < sizeof(*header) || header->size < sizeof(*header) ||
	    header->size % 8 || header->size > unread)
		return -EBADMSG;
	if (header->size > until_wrap) {
		uint16_t size = header->size;

		if (!ring->joined)
			return -ENOBUFS;
		memcpy(ring->joined, header, until_wrap);
		memcpy((uint8_t *)ring->joined + until_wrap, ring->data, size - until_wrap);
		header = ring->joined;
	}
	ring->at += header->size;
	*ret = header;
	return 1;
}

void tally_raw_ring_release(struct tally_raw_ring *ring)
{
	barrier_store_tail(ring->page, ring->at);
}
