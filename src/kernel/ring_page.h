/* The control page of a ring, for those that read more of it than the ring does. */
#ifndef TALLY_KERNEL_RING_PAGE_H
#define TALLY_KERNEL_RING_PAGE_H

#include <linux/perf_event.h>
#include <tally/ring.h>

struct tally_record_time_conv;

/* Borrowed until the ring is closed. */
struct perf_event_mmap_page *tally_ring_page(const struct tally_ring *ring);

/* What tally_ring_control() and tally_ring_time_conv() read, of any page. */
void tally_ring_page_control(const struct perf_event_mmap_page *page,
			     struct tally_ring_control *ret);
int tally_ring_page_time_conv(const struct perf_event_mmap_page *page,
			      struct tally_record_time_conv *ret);
size_t tally_ring_size(const struct tally_ring *ring); /* bytes of its data */

#endif
