/* AUX areas: mapped, and what is new in them found.
 *
 * Where the kernel stops at aux_tail, both positions count bytes since the area was made, and what
 * is unread is between them.  In an area that is overwritten aux_head is, by the driver, such a
 * count (CoreSight, SPE) or a place in the area (Intel PT, BTS), and nothing says how often the
 * area was filled.  So: an area whose memory behind the head is not zero was filled at least once,
 * as the kernel gives zeroed pages; and a snapshot keeps a copy of the last bytes before its head:
 * if they are still there at the next one, the area was not filled again in between.  Source: what
 * each driver stores in rb->aux_head, perf_aux_output_end() of kernel/events/ring_buffer.c. */
#include "kernel/aux_area.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <unistd.h>
#include "base/fail.h"
#include "kernel/barrier.h"
#include "kernel/map_policy.h"
#include "kernel/ring_page.h"
#include "kernel/setcap.h"

/* Twice the distance of two synchronisation packets of Intel PT at its largest usual setting. */
#define MARK_MOST  (256u << 10)
#define MARK_LEAST 64

void tally_aux_area_init(struct tally_aux_area *area, struct perf_event_mmap_page *page,
			 const void *data, size_t size, bool overwrite)
{
	*area = (struct tally_aux_area){
	    .page = page, .data = data, .size = size, .overwrite = overwrite};
}

static int map_refused(int errnum, size_t pages, size_t page_size,
		       const struct tally_limits *limits, struct tally_error *error)
{
	size_t kb = pages * page_size / 1024;
	char setcap[SETCAP_TEXT];

	if (tally_map_policy_refused(errnum, limits))
		return tally_map_policy_explain(errnum, "an AUX area", kb, error);
	switch (errnum) {
	case EPERM:
		return tally_fail(
		    error, -errnum, -1,
		    "an AUX area of %zu KiB may not be locked in memory: "
		    "kernel.perf_event_mlock_kb "
		    "is %lld KiB a CPU for all rings and AUX areas of this user; use a smaller one "
		    "(-m ,PAGES), or let this program lock more with %s",
		    kb, (long long)limits->mlock_kb,
		    tally_setcap_command(limits, SETCAP_BIT(PERFMON) | SETCAP_BIT(IPC_LOCK),
					 setcap));
	case ENOMEM:
		return tally_fail(error, -errnum, -1,
				  "no memory for an AUX area of %zu KiB: use a smaller one "
				  "(-m ,PAGES) or fewer CPUs (-C)",
				  kb);
	case EOPNOTSUPP:
	case EINVAL:
		return tally_fail(
		    error, -errnum, -1,
		    "the kernel refuses an AUX area of %zu KiB for this event: its PMU "
		    "has none, or none of this size (-m ,PAGES) and kind (-S)",
		    kb);
	default:
		return tally_fail(error, -errnum, -1, "cannot map an AUX area of %zu KiB: %s", kb,
				  strerror(errnum));
	}
}

int tally_aux_area_open(struct tally_aux_area *area, const struct tally_ring *ring, int fd,
			size_t pages, bool overwrite, const struct tally_limits *limits,
			struct tally_error *error)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE), size = pages * page_size;
	uint64_t offset = (tally_ring_pages(ring) + 1) * page_size;
	struct perf_event_mmap_page *page = tally_ring_page(ring);
	void *at;

	if (!pages || pages & (pages - 1))
		return tally_fail(error, -EINVAL, -1,
				  "an AUX area has a power of two of pages, not %zu", pages);
	/* The kernel compares these with what is mapped. */
	page->aux_offset = offset;
	page->aux_size = size;
	at = mmap(NULL, size, overwrite ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		  (off_t)offset);
	if (at == MAP_FAILED) {
		int errnum = errno;

		page->aux_size = 0;
		return map_refused(errnum, pages, page_size, limits, error);
	}
	tally_aux_area_init(area, page, at, size, overwrite);
	area->mapped = true;
	return 0;
}

void tally_aux_area_done(struct tally_aux_area *area)
{
	if (area->mapped)
		munmap((void *)(uintptr_t)area->data, area->size);
	free(area->mark);
	*area = (struct tally_aux_area){0};
}

/* The `size` bytes before a position, which may be at most one lap. */
static void bytes_before(const struct tally_aux_area *area, uint64_t head, size_t size,
			 struct tally_aux_bytes *ret)
{
	uint64_t from = head - size, place = from & (area->size - 1);
	size_t until_wrap = (size_t)(area->size - place);

	*ret = (struct tally_aux_bytes){
	    .first = area->data + place,
	    .first_size = MIN(size, until_wrap),
	    .offset = from,
	};
	if (size > until_wrap) {
		ret->second = area->data;
		ret->second_size = size - until_wrap;
	}
}

size_t tally_aux_area_peek(struct tally_aux_area *area, struct tally_aux_bytes *ret)
{
	uint64_t head = barrier_load_aux_head(area->page), size = head - area->tail;

	/* More than a lap cannot be unread: what the page says then is not used. */
	if (size > area->size) {
		area->tail = head;
		size = 0;
	}
	bytes_before(area, head, (size_t)size, ret);
	return (size_t)size;
}

void tally_aux_area_consume(struct tally_aux_area *area, size_t bytes)
{
	area->tail += bytes;
	barrier_store_aux_tail(area->page, area->tail);
}

/* --- areas that are overwritten --- */

/* Whether anything was written in [from, end of the area). */
static bool written_behind(const struct tally_aux_area *area, uint64_t from)
{
	/* Backwards: of an area that was filled the last byte is rarely zero. */
	for (uint64_t at = area->size; at-- > from;)
		if (area->data[at])
			return true;
	return false;
}

static bool differs(const struct tally_aux_bytes *bytes, const uint8_t *from)
{
	return memcmp(bytes->first, from, bytes->first_size) != 0 ||
	       (bytes->second_size &&
		memcmp(bytes->second, from + bytes->first_size, bytes->second_size) != 0);
}

/* Whether the area was filled since the last snapshot.  Of the mark only what the head did not
 * pass since can be there still. */
static bool filled_since(const struct tally_aux_area *area, uint64_t place)
{
	uint64_t before = area->before & (area->size - 1);
	uint64_t from = (before - area->mark_size) & (area->size - 1);
	uint64_t passed = (place - from) & (area->size - 1);
	size_t kept = area->mark_size;
	struct tally_aux_bytes bytes;

	if (passed < kept)
		kept -= (size_t)passed;
	/* So few bytes may be equal by chance. */
	if (kept < MARK_LEAST && kept < area->mark_size)
		return true;
	bytes_before(area, before + area->size, kept, &bytes);
	return differs(&bytes, area->mark + (area->mark_size - kept));
}

static int set_mark(struct tally_aux_area *area, uint64_t head, uint64_t valid)
{
	size_t size = (size_t)MIN(MIN(valid, area->size / 2), MARK_MOST);
	struct tally_aux_bytes bytes;

	if (!area->mark)
		area->mark = malloc(MIN(area->size / 2, MARK_MOST));
	if (!area->mark)
		return -ENOMEM;
	bytes_before(area, head, size, &bytes);
	memcpy(area->mark, bytes.first, bytes.first_size);
	if (bytes.second_size)
		memcpy(area->mark + bytes.first_size, bytes.second, bytes.second_size);
	area->mark_size = size;
	area->before = head;
	return 0;
}

int tally_aux_area_snapshot(struct tally_aux_area *area, size_t most, size_t align,
			    struct tally_aux_bytes *ret, size_t *ret_size)
{
	uint64_t head = barrier_load_aux_head(area->page), place = head & (area->size - 1);
	uint64_t valid, fresh, before = area->before & (area->size - 1);
	bool filled;
	int result;

	area->continuous |= head >= area->size;
	if (area->continuous || written_behind(area, place))
		valid = area->size;
	else
		valid = place;
	if (!area->mark_size) {
		filled = valid == area->size;
		fresh = valid;
	} else if (area->continuous) {
		fresh = MIN(head - area->before, area->size);
		filled = false;
	} else {
		filled = filled_since(area, place);
		fresh = filled ? valid : (place - before) & (area->size - 1);
	}
	/* As perf counts: a place in a lap after the first, so that no offset is negative. */
	if (!area->continuous && (filled || (area->mark_size && before > place)))
		head += area->size;
	result = set_mark(area, head, valid);
	if (result)
		return result;
	if (most && fresh > most)
		fresh = most;
	bytes_before(area, head, (size_t)fresh, ret);
	/* Entries begin at the area's start: what is left at its end is no entry. */
	if (align > 1 && ret->second_size) {
		size_t rest = ret->first_size % align;

		ret->first_size -= rest;
		fresh -= rest;
	}
	*ret_size = (size_t)fresh;
	return 0;
}
