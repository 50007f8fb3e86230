#include "dwarf/address_order.h"

#include <string.h>
#include "base/table.h"

#define DIGIT  11U
#define DIGITS 3U /* of 32 bits */
#define VALUES (1U << DIGIT)
#define FEW    48U /* so many are inserted one by one */

static void insert_each(uint64_t *list, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		uint64_t one = list[i];
		size_t at = i;

		for (; at && list[at - 1] >> 32 > one >> 32; at--)
			list[at] = list[at - 1];
		list[at] = one;
	}
}

static unsigned digit_of(uint64_t one, unsigned digit)
{
	return (unsigned)(one >> (32 + digit * DIGIT)) & (VALUES - 1);
}

void tally_address_sort(uint64_t *list, uint64_t *spare, size_t count)
{
	uint32_t starts[VALUES]; /* the lower halves number the list, so there are not more */
	uint64_t *from = list, *to = spare;

	if (count <= FEW) {
		insert_each(list, count);
		return;
	}
	for (unsigned digit = 0; digit < DIGITS; digit++) {
		uint64_t *other = from;

		memset(starts, 0, sizeof(starts));
		for (size_t i = 0; i < count; i++)
			starts[digit_of(from[i], digit)]++;
		if (starts[digit_of(from[0], digit)] == count)
			continue; /* all have the same */
		counts_to_starts(starts, VALUES);
		for (size_t i = 0; i < count; i++)
			to[starts[digit_of(from[i], digit)]++] = from[i];
		from = to;
		to = other;
	}
	if (from != list)
		memcpy(list, from, count * sizeof(*list));
}
