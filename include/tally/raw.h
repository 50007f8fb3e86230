/* The lowest layer: the system call and the bytes of a ring, with nothing added or hidden.
 *
 * Programs that were written for perf_event_open(2) itself can use it.  All functions here may be
 * called from signal handlers. */
#ifndef TALLY_RAW_H
#define TALLY_RAW_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of <linux/perf_event.h>, or of the copy that a program brings with it, which excludes the other.
 */
struct perf_event_header;
struct perf_event_mmap_page;

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* perf_event_open(2): its arguments unchanged, its result: a descriptor, or -1 with errno set,
 * unlike the rest of this library.  `attr` is a struct perf_event_attr or tally_attr with its size
 * set; the kernel writes to it when it refuses that (E2BIG).  No flag is added. */
int tally_perf_event_open(void *attr, pid_t pid, int cpu, int group_fd, unsigned long flags);

/* A reader of a ring that the caller mapped.  Positions count bytes since the ring was made; `at`
 * may be set to one that is known to begin a record. */
struct tally_raw_ring {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size; /* of the data, bytes */
	uint64_t at;   /* the next record */
	uint64_t end;  /* where the records end that were there at the last look */
	void *joined;  /* the caller's 64 KiB, for a record that wraps */
};

/* `mapping`: what mmap(2) gave for a descriptor, the control page first, `size` bytes in all.  It
 * begins at data_tail.  `joined` NULL: records that wrap are -ENOBUFS.  -EINVAL when the data is no
 * power of two of pages. */
int tally_raw_ring_init(struct tally_raw_ring *ring, void *mapping, size_t size, void *joined);

/* The next record, whole and aligned to 8 bytes; borrowed until the next call or release.  1; 0:
 * there is none; -EBADMSG: the bytes are not a record (its size is not a multiple of 8, or larger
 * than what was written); -EOVERFLOW: the kernel has overwritten it (a mapping without PROT_WRITE),
 * and the reader is now behind the newest record. */
int tally_raw_ring_next(struct tally_raw_ring *ring, const struct perf_event_header **ret);

/* Gives the room of all records that were read back to the kernel.  The mapping must be writable.
 */
void tally_raw_ring_release(struct tally_raw_ring *ring);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
