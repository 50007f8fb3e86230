/* Overwritten rings (attr.write_backward): read at snapshots and at the end.
 *
 * Their newest record comes first, but the samples of a CPU must be in order of time in the file:
 * so records are appended from the last to the first. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tally/fd.h>
#include "base/fail.h"
#include "kernel/ring_page.h"
#include "base/table.h"
#include "kernel/ring_parts.h"
#include "record/drain.h"

static void add(struct tally_drain *drain, const uint8_t *bytes, size_t size)
{
	drain->iovecs[drain->iovec_count++] =
	    (struct iovec){.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
	drain->pending += size;
}

/* [from, to) of the two parts of a ring; a record may be in both. */
static int append(struct tally_drain *drain, const struct tally_ring_bytes *bytes, size_t from,
		  size_t to, struct tally_error *error)
{
	size_t first = bytes->first_size;

	if (drain->unwinder)
		return tally_drain_stack_record(drain, bytes, from, to, error);
	if (drain->iovec_count + 2 > TALLY_DRAIN_IOVECS) {
		int result = tally_drain_flush(drain, error);

		if (result)
			return result;
	}
	if (from < first)
		add(drain, bytes->first + from, (to < first ? to : first) - from);
	if (to > first) {
		size_t start = from > first ? from - first : 0;

		add(drain, bytes->second + start, to - first - start);
	}
	return 0;
}

/* Where records end, as an array of its own; 0: there are none. */
static size_t find_ends(struct tally_drain *drain, const struct tally_ring_bytes *bytes,
			size_t total, size_t **ret)
{
	size_t *ends = NULL, count = 0, room = 0, at = 0;

	while (at < total) {
		size_t to = tally_walk_samples(&drain->walk, bytes, at, 1);

		if (to == at)
			break;
		if (!array_next(&ends, &room, count, 1024, sizeof(*ends)))
			break;
		ends[count++] = at = to;
	}
	drain->walk.counts.bad_bytes += total - at;
	*ret = ends;
	return count;
}

static int write_bytes(struct tally_drain *drain, const struct tally_ring_bytes *bytes,
		       size_t total, struct tally_error *error)
{
	size_t *ends, count = find_ends(drain, bytes, total, &ends);
	int result = 0;

	for (size_t i = count; i-- > 0 && !result;)
		result = append(drain, bytes, i ? ends[i - 1] : 0, ends[i], error);
	if (!result)
		result = tally_drain_flush(drain, error);
	free(ends);
	return result;
}

/* Memory for a copy of a ring, with its pages in place: so that a ring is paused only while it is
 * copied.  NULL: none. */
static uint8_t *memory_for(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Samples of the time for which a ring is paused are lost, and files can be slow: a copy is written
 * where the ring goes on. */
static int drain_ring(struct tally_drain *drain, struct tally_ring *ring, bool last,
		      struct tally_error *error)
{
	size_t room = tally_ring_size(ring), total;
	uint8_t *copy = last ? NULL : memory_for(room);
	struct tally_ring_bytes bytes;
	int result = tally_fd_pause_output(tally_ring_fd(ring), true);

	if (result) {
		result = tally_fail(error, result, -1, "an overwritten ring cannot be paused: %s",
				    strerror(-result));
		goto out;
	}
	total = tally_ring_peek(ring, &bytes);
	if (copy) {
		ring_parts_copy(&bytes, 0, total, copy);
		bytes = (struct tally_ring_bytes){.first = copy, .first_size = total};
	} else { /* the end, or out of memory */
		result = write_bytes(drain, &bytes, total, error);
	}
	tally_ring_consume(ring, total);
	if (!last)
		tally_fd_pause_output(tally_ring_fd(ring), false);
	if (copy)
		result = write_bytes(drain, &bytes, total, error);
out:
	if (copy)
		munmap(copy, room);
	return result;
}

/* The processes that the samples are of. */
static int write_side(struct tally_drain *drain, struct tally_error *error)
{
	int64_t bytes = tally_side_kept_write(drain->side_kept, drain->writer, error);

	if (bytes < 0)
		return (int)bytes;
	drain->appended |= bytes != 0;
	drain->since_mark += (uint64_t)bytes;
	return 0;
}

int tally_drain_kept(struct tally_drain *drain, bool last, struct tally_error *error)
{
	int result = drain->side_kept ? write_side(drain, error) : 0;

	for (size_t i = 0; i < tally_openset_places(drain->set) && !result; i++)
		if (drain->set->kept[i])
			result = drain_ring(drain, drain->set->kept[i], last, error);
	if (!result && drain->unwinder)
		tally_drain_put_stacks(drain);
	return result ? result : tally_drain_round(drain, false, error);
}
