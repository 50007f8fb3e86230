#include "profile/side_sums.h"

#include <errno.h>
#include <stdlib.h>
#include "base/map.h"
#include "profile/profile.h"

int tally_side_sums_make(const struct tally_profile *profile, const struct tally_call_sums *sums,
			 uint64_t (**ret)[SIDES])
{
	const struct tally_rows *rows = &profile->rows;
	uint64_t(*made)[SIDES] = calloc((size_t)rows->count + 1, sizeof(*made));
	struct tally_map by_key = {0}; /* context and key -> row */
	int result = made ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < rows->count && !result; i++) {
		uint64_t key = (uint64_t)rows->list[i].context << 32 | rows->list[i].key;
		bool added;
		uint64_t *place = tally_map_put(&by_key, key, &added);

		if (place)
			*place = i;
		else
			result = -ENOMEM;
	}
	for (uint32_t i = 0; i < sums->count && !result; i++) {
		const struct tally_call_sum *sum = &sums->list[i];
		uint32_t place = places_find(&profile->places, sum->frame);
		uint32_t key = place ? rows_key(&profile->keys, &profile->places, place) : 0;
		const uint64_t *row = tally_map_find(&by_key, (uint64_t)sum->context << 32 | key);

		if (row)
			made[*row][sum->stack] += sum->self;
	}
	tally_map_done(&by_key);
	if (result)
		free(made);
	else
		*ret = made;
	return result;
}
