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

/* What the kernel shows in the control page of a ring, at one moment.  The counter's own part of
 * the page is tally_rdpmc_read()'s. */
struct tally_ring_control {
	size_t size; /* sizeof of this struct, set by the caller */
	uint32_t version, compat_version;
	bool cap_user_rdpmc; /* the counter may be read in user space */
	bool cap_user_time;  /* the times can be continued: time_mult, time_shift, time_offset */
	bool cap_user_time_zero;  /* the CPU's clock gives perf's time: time_zero, too */
	bool cap_user_time_short; /* the CPU's clock has fewer bits: time_cycles, time_mask, too */
	uint16_t time_shift;
	uint32_t time_mult;
	uint64_t time_offset, time_zero, time_cycles, time_mask;
	/* Positions count bytes since the ring was made; offsets and sizes are bytes of the
	 * mapping, 0 before Linux 4.1. */
	uint64_t data_head, data_tail, data_offset, data_size;
	/* The AUX area, to which hardware writes its traces; aux_size 0: none is mapped. */
	uint64_t aux_head, aux_tail, aux_offset, aux_size;
};
/* Reads the control page.  0, or -EINVAL: the size of the result is not set. */
int tally_ring_control(const struct tally_ring *ring, struct tally_ring_control *ret);

struct tally_record_time_conv; /* <tally/record.h> */

/* How the CPU's clock (the TSC of x86, the counter of arm64) becomes perf's time, as a recording's
 * TIME_CONV record says it.  0; -EOPNOTSUPP: this machine's clock cannot be converted, or the
 * ring's event has a clock of its own (attr.use_clockid), of which the page does not know. */
int tally_ring_time_conv(const struct tally_ring *ring, struct tally_record_time_conv *ret);
/* The time in ns, by perf's default clock, at which the CPU's clock was `cycles`; and the reverse,
 * which is the first value of that time or at most one tick before it.  Both are computed modulo
 * 2^64, as in the kernel; 0 where time_shift is over 63, or time_mult is 0 in the reverse. */
uint64_t tally_time_conv_ns(const struct tally_record_time_conv *conv, uint64_t cycles);
uint64_t tally_time_conv_cycles(const struct tally_record_time_conv *conv, uint64_t ns);

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
