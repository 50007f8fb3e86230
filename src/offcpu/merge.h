/* Records of several rings in the order of time. */
#ifndef TALLY_OFFCPU_MERGE_H
#define TALLY_OFFCPU_MERGE_H

#include <stddef.h>
#include <stdint.h>

struct tally_timed {
	uint64_t time;
	const uint8_t *bytes; /* the record */
};

/* Sorts by time; of equal times the first stays first. Items that are mostly sorted, as the records
 * of rings put one behind another are, take little time. `room` has as many items. */
void tally_timed_sort(struct tally_timed *items, struct tally_timed *room, size_t count);

#endif
