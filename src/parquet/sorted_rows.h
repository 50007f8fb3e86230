/* The order of a group's rows in the file: equal values beside each other take little room. */
#ifndef TALLY_PARQUET_SORTED_ROWS_H
#define TALLY_PARQUET_SORTED_ROWS_H

#include "parquet/chunk.h"

/* Sorts the rows of a group of plain columns by the values of some of them, the first one first;
 * of texts by their numbers.  Equal rows stay in their order.  0 or -ENOMEM. */
int tally_parquet_sort_rows(struct parquet_chunk *chunks, uint32_t chunk_count,
			    const uint8_t *order, size_t order_count);

#endif
