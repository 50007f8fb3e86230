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
/* Maps the ring of `fd`, which must live as long.  If the kernel refuses to lock so much memory
 * (EPERM), the ring is halved; tally_ring_pages() returns the size that it got.  limits NULL: they
 * are read now.  0; -EBUSY (older kernels: -EINVAL): the event's output goes to the ring of another
 * one; -E2BIG: an option is unknown; -errno: the error says which limit, and how to raise it. */
int tally_ring_open(int fd, const struct tally_ring_options *options,
		    const struct tally_limits *limits, struct tally_ring **ret,
		    struct tally_error *error);
void tally_ring_close(struct tally_ring *ring);
size_t tally_ring_pages(const struct tally_ring *ring); /* data pages that it has */
int tally_ring_fd(const struct tally_ring *ring);
/* Gives the unread bytes, as one run or, where they wrap, two; they hold whole records.  Returns
 * their number.  They stay until tally_ring_consume().
 * An overwrite ring must be paused (tally_fd_pause_output()) from the peek to the end of reading.
 * It gives the newest record first, and each record once: after more was written, the next peek
 * begins at the newest record and ends where the one before began. */
struct tally_ring_bytes {
	const uint8_t *first, *second;
	size_t first_size, second_size;
};
size_t tally_ring_peek(struct tally_ring *ring, struct tally_ring_bytes *ret);
void tally_ring_consume(struct tally_ring *ring, size_t bytes);

struct tally_record; /* <tally/record.h> */

/* The next whole record, copied if it wraps.  It is borrowed until the next call of next, peek or
 * consume, which gives its room back to the kernel.  1; 0: the ring is empty; -EBADMSG: the bytes
 * are not a record; -ENOMEM; -EINVAL: an overwrite ring whose event does not have
 * attr.write_backward, so that the start of its records is unknown. */
int tally_ring_next(struct tally_ring *ring, struct tally_record *ret);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
