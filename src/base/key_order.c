#include "base/key_order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"

enum { DIGIT_BITS = 11, DIGITS = 6, BUCKETS = 1 << DIGIT_BITS }; /* 6 * 11 covers 64 bits */

static size_t digit_of(uint64_t key, unsigned shift)
{
	return key >> shift & (BUCKETS - 1);
}

/* Moves `from`, the numbers of all keys, to `to` by one digit of these. */
static void scatter(const uint64_t *keys, const uint32_t *from, uint32_t *to, size_t count,
		    unsigned shift)
{
	uint32_t places[BUCKETS] = {0};

	for (size_t i = 0; i < count; i++)
		places[digit_of(keys[i], shift)]++;
	counts_to_starts(places, BUCKETS);
	for (size_t i = 0; i < count; i++)
		to[places[digit_of(keys[from[i]], shift)]++] = from[i];
}

void tally_key_sort(const uint64_t *keys, uint32_t *order, uint32_t *spare, size_t count)
{
	uint32_t *from = order, *to = spare;
	uint64_t varying = 0;
	bool ordered = true;

	for (size_t i = 1; i < count; i++) {
		varying |= keys[order[i]] ^ keys[order[0]];
		ordered &= keys[order[i - 1]] <= keys[order[i]];
	}
	for (unsigned shift = 0; shift < DIGITS * DIGIT_BITS && !ordered; shift += DIGIT_BITS) {
		uint32_t *swap = from;

		if (!(varying >> shift & (BUCKETS - 1)))
			continue;
		scatter(keys, from, to, count, shift);
		from = to;
		to = swap;
	}
	if (from != order)
		memcpy(order, from, count * sizeof(*order));
}

int tally_key_order(const uint64_t *keys, size_t count, uint32_t **ret)
{
	uint32_t *order, *spare;
	size_t at = 1;

	*ret = NULL;
	if (count > UINT32_MAX)
		return -EOVERFLOW;
	while (at < count && keys[at - 1] <= keys[at])
		at++;
	if (at >= count)
		return 0;
	order = array_new(count, sizeof(*order));
	spare = array_new(count, sizeof(*spare));
	for (size_t i = 0; i < count && order && spare; i++)
		order[i] = (uint32_t)i;
	if (order && spare)
		tally_key_sort(keys, *ret = order, spare, count);
	else
		free(order);
	free(spare);
	return *ret ? 0 : -ENOMEM;
}
