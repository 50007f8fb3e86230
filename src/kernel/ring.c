/* A mapped ring: mapped within the limits; records are read from it.
 *
 * Positions are the kernel's: bytes since the ring was made, always growing (always shrinking with
 * attr.write_backward, from 0 downwards); a position modulo the ring's size is its place in the
 * memory. */
#include <tally/fd.h>
#include <tally/limits.h>
#include <tally/ring.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tally/record.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "kernel/barrier.h"
#include "kernel/ring_page.h"
#include "kernel/map_policy.h"
#include "kernel/setcap.h"

struct tally_ring {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size;    /* of the data, a power of two; 0: only the control page */
	uint64_t at;      /* first unread position */
	uint64_t end;     /* where the unread bytes end, as of the last look */
	uint64_t seen;    /* overwritten rings: data_head at the last look */
	uint64_t pending; /* bytes returned by tally_ring_next(), which its next call consumes */
	uint8_t *joined;  /* copy of a record that wraps; made at the first use */
	size_t mapped, pages;
	int fd;
	bool overwrite;
};

static int map_refused(int errnum, const struct tally_ring_options *options,
		       const struct tally_limits *limits, size_t page_size,
		       struct tally_error *error)
{
	size_t kb = (options->least_pages + 1) * page_size / 1024;
	char setcap[SETCAP_TEXT];

	if (tally_map_policy_refused(errnum, limits))
		return tally_map_policy_explain(errnum, "a ring", kb, error);
	switch (errnum) {
	case EPERM:
		return tally_fail(
		    error, -errnum, -1,
		    "a ring of %zu KiB may not be locked in memory: kernel.perf_event_mlock_kb is "
		    "%lld KiB a CPU for all rings of this user, RLIMIT_MEMLOCK %llu KiB more, and "
		    "other programs of this user may use some of it; let this program lock more "
		    "(CAP_IPC_LOCK) with %s, raise the limit with `sudo sysctl "
		    "kernel.perf_event_mlock_kb=%zu`, or use smaller rings (-m)",
		    kb, (long long)limits->mlock_kb, (unsigned long long)limits->memlock / 1024,
		    tally_setcap_command(limits, SETCAP_BIT(PERFMON) | SETCAP_BIT(IPC_LOCK),
					 setcap),
		    kb * 4);
	case ENOMEM:
		return tally_fail(error, -errnum, -1,
				  "no memory for a ring of %zu KiB: use smaller rings (-m), fewer "
				  "CPUs (-C) or fewer threads, or see `sysctl vm.max_map_count` "
				  "when there are very many rings",
				  kb);
	case EINVAL:
		return tally_fail(
		    error, -errnum, -1,
		    "the kernel refuses a ring for this event: an inherited event (attr.inherit) "
		    "that is not bound to a CPU has none, nor one whose output goes to another "
		    "ring; open the event once for each CPU, or without inherit");
	case EBUSY: /* perf_mmap_rb() of kernel/events/core.c, from Linux 6.17 on */
		return tally_fail(
		    error, -errnum, -1,
		    "the output of this event goes to another event's ring "
		    "(tally_fd_set_output()): read that ring, or send the output back "
		    "to its own before mapping it");
	default:
		return tally_fail(error, -errnum, -1, "cannot map a ring of %zu KiB: %s", kb,
				  strerror(errnum));
	}
}

static int check_options(const struct tally_ring_options *options, size_t page_size,
			 struct tally_error *error)
{
	size_t pages = options->pages;

	if (pages & (pages - 1))
		return tally_fail(error, -EINVAL, -1,
				  "a ring has a power of two of data pages, not %zu", pages);
	if (pages > (SIZE_MAX >> 2) / page_size)
		return tally_fail(error, -EINVAL, -1, "a ring of %zu pages is too large", pages);
	return 0;
}

int tally_ring_open(int fd, const struct tally_ring_options *options,
		    const struct tally_limits *limits, struct tally_ring **ret,
		    struct tally_error *error)
{
	struct tally_ring_options use = {.size = sizeof(use)};
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	struct tally_limits own = {.size = sizeof(own)};
	struct tally_ring *ring;
	void *at = MAP_FAILED;
	int result = tally_options_take(&use, sizeof(use), options);

	if (result)
		return tally_fail(error, result, -1,
				  "the ring's options ask for what this version does not support");
	result = check_options(&use, page_size, error);
	if (result)
		return result;
	if (!limits || tally_options_take(&own, sizeof(own), limits))
		tally_limits_read(NULL, &own);
	limits = &own;
	if (!use.least_pages || use.least_pages > use.pages)
		use.least_pages = use.pages ? 1 : 0;
	ring = calloc(1, sizeof(*ring));
	if (!ring)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	/* A writable mapping makes the kernel stop at data_tail; with a read-only one it
	 * overwrites. */
	for (ring->pages = use.pages;; ring->pages /= 2) {
		ring->mapped = (ring->pages + 1) * page_size;
		at = mmap(NULL, ring->mapped, use.overwrite ? PROT_READ : PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, 0);
		if (at != MAP_FAILED)
			break;
		result = errno;
		if ((result != EPERM && result != ENOMEM) || ring->pages / 2 < use.least_pages ||
		    ring->pages < 2) {
			use.least_pages = ring->pages;
			free(ring);
			return map_refused(result, &use, limits, page_size, error);
		}
	}
	ring->page = at;
	/* data_offset exists from Linux 4.1 on; before, the data was always behind one page. */
	ring->data =
	    (const uint8_t *)at + (ring->page->data_offset ? ring->page->data_offset : page_size);
	ring->size = (uint64_t)ring->pages * page_size;
	ring->overwrite = use.overwrite;
	ring->fd = fd;
	*ret = ring;
	return 0;
}

void tally_ring_close(struct tally_ring *ring)
{
	if (!ring)
		return;
	munmap(ring->page, ring->mapped);
	free(ring->joined);
	free(ring);
}

size_t tally_ring_pages(const struct tally_ring *ring)
{
	return ring->pages;
}

size_t tally_ring_size(const struct tally_ring *ring)
{
	return ring->size;
}

struct perf_event_mmap_page *tally_ring_page(const struct tally_ring *ring)
{
	return ring->page;
}

int tally_ring_fd(const struct tally_ring *ring)
{
	return ring->fd;
}

/* `size` of the header at a position.  Records start at multiples of 8, so a header never wraps. */
static uint16_t size_at(const struct tally_ring *ring, uint64_t position)
{
	const struct perf_event_header *header =
	    (const void *)(ring->data + (position & (ring->size - 1)));

	return header->size;
}

/* A backward ring, paused: the newest record is at data_head and older ones follow, up to bytes
 * that were never written (a header of zeros), a record partly overwritten by the newest (it would
 * pass one lap above the head), or what an earlier look returned. */
static void find_end_backward(struct tally_ring *ring)
{
	uint64_t head = barrier_load_head(ring->page), fresh = ring->seen - head, length = 0;

	if (head == ring->seen || (int64_t)head > 0)
		return;
	while (length < fresh && length < ring->size) {
		uint16_t size = size_at(ring, head + length);

		if (size < sizeof(struct perf_event_header) || size > ring->size - length)
			break;
		length += size;
	}
	ring->seen = head;
	ring->at = head;
	ring->end = head + length;
}

static void find_end(struct tally_ring *ring)
{
	if (!ring->size)
		return;
	if (ring->overwrite) {
		find_end_backward(ring);
		return;
	}
	ring->end = barrier_load_head(ring->page);
	/* At most one lap can be unread; if the kernel's page says more, no record there is whole.
	 */
	if (ring->end - ring->at > ring->size)
		ring->at = ring->end;
}

static void consume(struct tally_ring *ring, uint64_t bytes)
{
	ring->at += bytes < ring->end - ring->at ? bytes : ring->end - ring->at;
	if (!ring->overwrite && ring->size)
		barrier_store_tail(ring->page, ring->at);
}

static void consume_pending(struct tally_ring *ring)
{
	if (ring->pending)
		consume(ring, ring->pending);
	ring->pending = 0;
}

size_t tally_ring_peek(struct tally_ring *ring, struct tally_ring_bytes *ret)
{
	uint64_t total, place, until_wrap;

	consume_pending(ring);
	find_end(ring);
	*ret = (struct tally_ring_bytes){0};
	total = ring->end - ring->at;
	if (!total)
		return 0;
	place = ring->at & (ring->size - 1);
	until_wrap = ring->size - place;
	ret->first = ring->data + place;
	ret->first_size = total < until_wrap ? total : until_wrap;
	if (total > until_wrap) {
		ret->second = ring->data;
		ret->second_size = total - until_wrap;
	}
	return total;
}

void tally_ring_consume(struct tally_ring *ring, size_t bytes)
{
	consume_pending(ring);
	consume(ring, bytes);
}

/* The record at `place` passes the end of the memory: a copy of its two parts. */
static const uint8_t *join(struct tally_ring *ring, uint64_t place, uint16_t size)
{
	size_t first = ring->size - place;

	if (!ring->joined)
		ring->joined = malloc(UINT16_MAX + 1);
	if (!ring->joined)
		return NULL;
	memcpy(ring->joined, ring->data + place, first);
	memcpy(ring->joined + first, ring->data, size - first);
	return ring->joined;
}

int tally_ring_next(struct tally_ring *ring, struct tally_record *ret)
{
	struct perf_event_header header;
	const uint8_t *bytes;
	uint64_t place, unread;

	consume_pending(ring);
	/* data_head is in a cache line that the kernel writes: read only when all records are read.
	 */
	if (ring->at == ring->end)
		find_end(ring);
	unread = ring->end - ring->at;
	if (!unread) {
		bool forward = ring->overwrite && (int64_t)barrier_load_head(ring->page) > 0;

		return forward ? -EINVAL : 0;
	}
	place = ring->at & (ring->size - 1);
	bytes = ring->data + place;
	if (unread < sizeof(header))
		return -EBADMSG;
	memcpy(&header, bytes, sizeof(header));
	if (header.size < sizeof(header) || header.size % 8 || header.size > unread)
		return -EBADMSG;
	if (header.size > ring->size - place)
		bytes = join(ring, place, header.size);
	if (!bytes)
		return -ENOMEM;
	ring->pending = header.size;
	*ret = (struct tally_record){
	    .bytes = bytes,
	    .offset = ring->at,
	    .type = header.type,
	    .misc = header.misc,
	    .size = header.size,
	};
	return 1;
}
