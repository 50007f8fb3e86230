#include "dwarf/address_order.h"

#include <string.h>

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
	size_t starts[DIGITS][VALUES] = {0};
	uint64_t *from = list, *to = spare;

	if (count <= FEW) {
		insert_each(list, count);
		return;
	}
	for (size_t i = 0; i < count; i++)
		for (unsigned digit = 0; digit < DIGITS; digit++)
			starts[digit][digit_of(list[i], digit)]++;
	for (unsigned digit = 0; digit < DIGITS; digit++) {
		uint64_t *other = from;
		size_t sum = 0;

		if (starts[digit][digit_of(from[0], digit)] == count)
			continue; /* all have the same */
		for (unsigned value = 0; value < VALUES; value++) {
			size_t more = starts[digit][value];

			starts[digit][value] = sum;
			sum += more;
		}
		for (size_t i = 0; i < count; i++)
			to[starts[digit][digit_of(from[i], digit)]++] = from[i];
		from = to;
		to = other;
	}
	if (from != list)
		memcpy(list, from, count * sizeof(*list));
}
