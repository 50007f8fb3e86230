/* The memory barriers of the ring that kernel and reader share: all of them, and why.
 *
 * The kernel writes records, then moves data_head; the reader reads records, then moves data_tail.
 * Each side must see the other's bytes before it sees the other's position:
 *
 *   kernel                                  reader
 *   --------------------------------        ----------------------------------
 *   if room up to data_tail (A)             load data_head          (acquire, C)
 *     write the record                      read the record
 *     store data_head        (release, B)   store data_tail         (release, D)
 *
 * B pairs with C: a reader that sees the new head also sees the record's bytes. With a plain load
 * as C, the CPU could fetch the bytes before the head, and return those of the last lap. D pairs
 * with A (a control dependency in the kernel): the kernel overwrites a record only after it saw the
 * tail pass it, and D keeps our reads of the record before that store.
 *
 * An acquire load and a release store are enough on every architecture, and cost nothing on x86.
 * Source: the comment in perf_output_put_handle() of kernel/events/ring_buffer.c and the one at
 * data_head in include/uapi/linux/perf_event.h, which requires an rmb() after the read and an mb()
 * before the write.
 *
 * The AUX area has the same two positions, aux_head and aux_tail, with the same rules; there the
 * hardware writes the bytes, and the kernel moves aux_head when they are in memory.  Source:
 * perf_aux_output_end() of kernel/events/ring_buffer.c. */
#ifndef TALLY_KERNEL_BARRIER_H
#define TALLY_KERNEL_BARRIER_H

#include <linux/perf_event.h>
#include <stdint.h>

/* (C) Everything the kernel wrote below the returned head may be read after this. */
static inline uint64_t barrier_load_head(const struct perf_event_mmap_page *page)
{
	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

/* (D) All reads below `tail` are done; the kernel may write there. */
static inline void barrier_store_tail(struct perf_event_mmap_page *page, uint64_t tail)
{
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

/* (C) and (D) of the AUX area. */
static inline uint64_t barrier_load_aux_head(const struct perf_event_mmap_page *page)
{
	return __atomic_load_n(&page->aux_head, __ATOMIC_ACQUIRE);
}

static inline void barrier_store_aux_tail(struct perf_event_mmap_page *page, uint64_t tail)
{
	__atomic_store_n(&page->aux_tail, tail, __ATOMIC_RELEASE);
}

#endif
