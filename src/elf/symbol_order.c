#include "elf/symbol_order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum { DIGIT_BITS = 11, DIGITS = 6, BUCKETS = 1 << DIGIT_BITS }; /* 6 * 11 covers 64 bits */

/* The bits in which any two keys differ; *ret_ordered: whether they are in order. */
static uint64_t look_at(const uint64_t *keys, size_t count, bool *ret_ordered)
{
	uint64_t varying = 0;
	bool ordered = true;

	for (size_t i = 1; i < count; i++) {
		varying |= keys[i] ^ keys[0];
		ordered &= keys[i - 1] <= keys[i];
	}
	*ret_ordered = ordered;
	return varying;
}

static size_t digit_of(uint64_t key, unsigned shift)
{
	return key >> shift & (BUCKETS - 1);
}

/* Moves `from` to `to` by one digit of their keys. */
static void scatter(const uint64_t *keys, const uint32_t *from, uint32_t *to, size_t count,
		    unsigned shift)
{
	uint32_t places[BUCKETS] = {0}, place = 0;

	for (size_t i = 0; i < count; i++)
		places[digit_of(keys[i], shift)]++;
	for (size_t i = 0; i < BUCKETS; i++) {
		uint32_t here = places[i];

		places[i] = place;
		place += here;
	}
	for (size_t i = 0; i < count; i++)
		to[places[digit_of(keys[from[i]], shift)]++] = from[i];
}

int tally_symbol_order(const uint64_t *keys, size_t count, uint32_t **ret)
{
	uint32_t *from, *to;
	bool ordered;
	uint64_t varying;

	if (count > UINT32_MAX)
		return -EOVERFLOW;
	varying = look_at(keys, count, &ordered);
	if (ordered) {
		*ret = NULL;
		return 0;
	}
	from = malloc(count * sizeof(*from));
	to = malloc(count * sizeof(*to));
	if (!from || !to) {
		free(from);
		free(to);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		from[i] = (uint32_t)i;
	for (unsigned shift = 0; shift < DIGITS * DIGIT_BITS; shift += DIGIT_BITS) {
		uint32_t *swap = from;

		if (!(varying >> shift & (BUCKETS - 1)))
			continue;
		scatter(keys, from, to, count, shift);
		from = to;
		to = swap;
	}
	free(to);
	*ret = from;
	return 0;
}
