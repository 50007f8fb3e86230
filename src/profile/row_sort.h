/* Numbers of rows sorted by a key each. */
#ifndef TALLY_PROFILE_ROW_SORT_H
#define TALLY_PROFILE_ROW_SORT_H

#include <stdint.h>

/* Packed: there are two of them a row when most memory is in use. */
struct tally_row_item {
	uint64_t key;
	uint32_t row;
} __attribute__((packed));

/* Sorts by the keys and leaves what is equal as it stood.  `varying` has the bits in which any two
 * differ, `spare` has room for as many.  Many are sorted by so many threads. */
void tally_row_sort(struct tally_row_item *items, struct tally_row_item *spare, uint32_t count,
		    uint64_t varying, unsigned threads);

#endif
