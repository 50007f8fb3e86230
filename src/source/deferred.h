/* Call chains of user space that the kernel wrote when a thread went back there, after its samples:
 * each is found by the thread and the cookie that its samples end with.
 *
 * Source: PERF_RECORD_CALLCHAIN_DEFERRED of include/uapi/linux/perf_event.h, Linux 6.19: header,
 * u64 cookie, u64 nr, u64 ips[nr], sample_id. */
#ifndef TALLY_SOURCE_DEFERRED_H
#define TALLY_SOURCE_DEFERRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/record.h>

struct source_deferred {
	uint64_t cookie, time;
	uint32_t tid;
	const uint8_t *record; /* borrowed: as long as the pieces of the source */
};

/* What a record of that type has; false: it is damaged, or does not say its thread. */
bool tally_deferred_read(const struct tally_layout *layout, const struct tally_record *record,
			 uint64_t time, struct source_deferred *ret);
/* So that tally_deferred_find() finds them. */
void tally_deferred_sort(struct source_deferred *list, size_t count);
/* The words for a sample of that time: PERF_CONTEXT_USER, then addresses. How many; 0: the kernel
 * wrote none. */
uint64_t tally_deferred_find(const struct source_deferred *list, size_t count, uint32_t tid,
			     uint64_t cookie, uint64_t time, const uint64_t **ret);

#endif
