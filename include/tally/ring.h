/* The ring that the kernel writes records of an event to, mapped and read.
 *
 * Source: perf_event_open(2), "MMAP layout". */
#ifndef TALLY_RING_H
#define TALLY_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include <tally/limits.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* A mapped ring. */
struct tally_ring;
struct tally_ring_options {
	size_t size;  /* sizeof of this struct */
	size_t pages; /* data pages, a power of two (0: the control page alone, no records); halved
		       * on EPERM and ENOMEM down to least_pages */
	size_t least_pages; /* 0: one */
	bool overwrite;     /* the kernel overwrites the oldest records; for attr.write_backward */
};
/* Maps the ring of `fd`, which must outlive it.  What the kernel locks for it beyond the limits is
 * refused with EPERM; the ring is then halved, and tally_ring_pages() tells that by differing from
 * what was asked.  -EBUSY (older kernels: -EINVAL): the event's output goes to another one's ring.
 * A tail of *options that this version does not know must be zero, else -E2BIG.
 * limits NULL: read now.  0 or -errno with error->text saying which limit and how to lift it. */
int tally_ring_open(int fd, const struct tally_ring_options *options,
		    const struct tally_limits *limits, struct tally_ring **ret,
		    struct tally_error *error);
void tally_ring_close(struct tally_ring *ring);
size_t tally_ring_pages(const struct tally_ring *ring); /* what it got */
int tally_ring_fd(const struct tally_ring *ring);
/* The unread bytes as at most two runs (the second when they wrap; whole records across both).
 * Returns their total; they stay until tally_ring_consume().
 * Overwrite rings must be paused (tally_fd_pause_output) from the look to the end of the reading;
 * they give the newest record first, each record once: a look after more was written starts at the
 * newest again and ends where the look before began. */
struct tally_ring_bytes {
	const uint8_t *first, *second;
	size_t first_size, second_size;
};
size_t tally_ring_peek(struct tally_ring *ring, struct tally_ring_bytes *ret);
void tally_ring_consume(struct tally_ring *ring, size_t bytes);

/* The next whole record, copied together when it wraps (borrowed until the next next, peek or
 * consume, which gives its room back to the kernel).  1, 0 when empty, -EBADMSG when the bytes are
 * no record, -ENOMEM, -EINVAL for an overwrite ring whose event lacks attr.write_backward: nobody
 * can tell where the records of such a ring begin. */
struct tally_record;
int tally_ring_next(struct tally_ring *ring, struct tally_record *ret);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
