#include "image/symbol_order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 6, BUCKETS = 1 << DIGIT_BITS }; /* 6 * 11 covers 64 bits */

struct entry {
	uint64_t key;
	uint32_t index;
};

static bool in_order(const uint64_t *keys, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (keys[i - 1] > keys[i])
			return false;
	return true;
}

static size_t digit_of(uint64_t key, unsigned digit)
{
	return key >> (digit * DIGIT_BITS) & (BUCKETS - 1);
}

/* Moves `from` to `to` by one digit; false when all have the same digit and nothing moved. */
static bool scatter(const struct entry *from, struct entry *to, size_t count, unsigned digit)
{
	uint32_t places[BUCKETS] = {0}, place = 0;

	for (size_t i = 0; i < count; i++)
		places[digit_of(from[i].key, digit)]++;
	if (places[digit_of(from[0].key, digit)] == count)
		return false;
	for (size_t i = 0; i < BUCKETS; i++) {
		uint32_t here = places[i];

		places[i] = place;
		place += here;
	}
	for (size_t i = 0; i < count; i++)
		to[places[digit_of(from[i].key, digit)]++] = from[i];
	return true;
}

int tally_symbol_order(const uint64_t *keys, size_t count, uint32_t **ret)
{
	struct entry *from, *to, *both;
	uint32_t *order;

	if (count > UINT32_MAX)
		return -EOVERFLOW;
	if (in_order(keys, count)) {
		*ret = NULL;
		return 0;
	}
	both = malloc(2 * count * sizeof(*both));
	order = malloc(count * sizeof(*order));
	if (!both || !order) {
		free(both);
		free(order);
		return -ENOMEM;
	}
	from = both;
	to = both + count;
	for (size_t i = 0; i < count; i++)
		from[i] = (struct entry){.key = keys[i], .index = (uint32_t)i};
	for (unsigned digit = 0; digit < DIGITS; digit++) {
		if (scatter(from, to, count, digit)) {
			struct entry *swap = from;

			from = to;
			to = swap;
		}
	}
	for (size_t i = 0; i < count; i++)
		order[i] = from[i].index;
	free(both);
	*ret = order;
	return 0;
}
