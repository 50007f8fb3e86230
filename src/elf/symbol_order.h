/* The order of addresses: a stable radix sort, for tables of a million symbols. */
#ifndef TALLY_ELF_SYMBOL_ORDER_H
#define TALLY_ELF_SYMBOL_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Gives the permutation that puts `keys` in ascending order, equal keys in order of arrival; the
 * caller's to free().  *ret is NULL when they are in order already.  0, -ENOMEM, -EOVERFLOW. */
int tally_symbol_order(const uint64_t *keys, size_t count, uint32_t **ret);

#endif
