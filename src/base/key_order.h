/* The order of keys: a stable radix sort, for tables of a million. */
#ifndef TALLY_BASE_KEY_ORDER_H
#define TALLY_BASE_KEY_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Sorts `order`, the numbers of all keys, by these; numbers of equal keys stay as they are to each
 * other.  `spare` has room for as many. */
void tally_key_sort(const uint64_t *keys, uint32_t *order, uint32_t *spare, size_t count);

/* Gives the permutation that puts `keys` in ascending order, equal keys in order of arrival; the
 * caller's to free().  *ret is NULL when they are in order already.  0, -ENOMEM, -EOVERFLOW. */
int tally_key_order(const uint64_t *keys, size_t count, uint32_t **ret);

#endif
