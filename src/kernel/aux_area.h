/* The AUX area of a ring: memory that hardware writes its trace to, mapped beside the ring whose
 * AUX records say what was written.
 *
 * Source: perf_event_open(2), "MMAP layout", aux_offset to aux_tail; perf_mmap() of
 * kernel/events/core.c: the area is a power of two of pages behind the data, mapped writable (the
 * kernel stops at aux_tail) or read-only (the oldest bytes are overwritten). */
#ifndef TALLY_KERNEL_AUX_AREA_H
#define TALLY_KERNEL_AUX_AREA_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include <tally/limits.h>
#include <tally/ring.h>

struct tally_aux_area {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size; /* a power of two */
	bool overwrite;
	bool mapped;     /* data is a mapping of our own */
	uint64_t tail;   /* what was read ends here */
	uint64_t before; /* overwritten: aux_head at the last snapshot */
	bool continuous; /* overwritten: aux_head counts on after a lap */
	uint8_t *mark;   /* the bytes before `before`, as they were then; NULL: no snapshot yet */
	size_t mark_size;
};

/* A part of the area.  It is one run, or two where it wraps. */
struct tally_aux_bytes {
	const uint8_t *first, *second;
	size_t first_size, second_size;
	uint64_t offset; /* of the first byte, in the count that AUX records use */
};

/* An area in memory that is there already, for tests: nothing is mapped. */
void tally_aux_area_init(struct tally_aux_area *area, struct perf_event_mmap_page *page,
			 const void *data, size_t size, bool overwrite);
/* Maps an area of `pages` pages, a power of two, behind the data of `ring`, by the descriptor of an
 * event that has one and whose output goes to the ring.  0 or -errno; the error says what to do. */
int tally_aux_area_open(struct tally_aux_area *area, const struct tally_ring *ring, int fd,
			size_t pages, bool overwrite, const struct tally_limits *limits,
			struct tally_error *error);
void tally_aux_area_done(struct tally_aux_area *area);

/* What is unread; returns its number of bytes.  They stay until tally_aux_area_consume().  Not for
 * areas that are overwritten. */
size_t tally_aux_area_peek(struct tally_aux_area *area, struct tally_aux_bytes *ret);
void tally_aux_area_consume(struct tally_aux_area *area, size_t bytes);

/* The newest `most` bytes (0: all) of an area that is overwritten, without those that an earlier
 * snapshot gave; the event must be disabled until they are read.  `align`: entries of the trace are
 * so long and begin at the area's start (1: anything); a part of an entry is left out.  -ENOMEM;
 * else 0, and *ret_size is the number of bytes. */
int tally_aux_area_snapshot(struct tally_aux_area *area, size_t most, size_t align,
			    struct tally_aux_bytes *ret, size_t *ret_size);

#endif
