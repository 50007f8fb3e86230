#include "fleet/fleet_functions.h"

#include <errno.h>
#include "base/bytes.h"

void tally_fleet_functions_done(struct fleet_functions *functions)
{
	tally_map_done(&functions->starts);
	tally_map_done(&functions->several);
	tally_map_done(&functions->by_name);
	tally_map_done(&functions->by_start);
	chunks_done(&functions->list);
}

static uint64_t word_of(struct fleet_name name)
{
	return (uint64_t)name.image << 32 | name.symbol;
}

int tally_fleet_functions_note(struct fleet_functions *functions, struct fleet_name name,
			       uint32_t build, uint64_t start)
{
	uint64_t *first;
	bool added;

	if (!start)
		return 0;
	/* Different ones with one hash are taken for two of a name: they stay apart. */
	first = tally_map_put(&functions->starts, hash_pair(word_of(name), build), &added);
	if (!first)
		return -ENOMEM;
	if (!*first)
		*first = start;
	if (*first != start && !tally_map_put(&functions->several, word_of(name), &added))
		return -ENOMEM;
	return 0;
}

static struct tally_given_function *function_at(const struct fleet_functions *functions,
						uint64_t number)
{
	return chunks_at(&functions->list, (uint32_t)number, sizeof(struct tally_given_function));
}

/* Fills a place of one of the maps with a new function.  NULL: out of memory. */
static const struct tally_given_function *add(struct fleet_functions *functions, uint64_t *place,
					      const char *text, uint64_t start)
{
	uint32_t number;
	struct tally_given_function *made =
	    chunks_add(&functions->list, sizeof(struct tally_given_function), &number);

	if (!made)
		return NULL;
	*made = (struct tally_given_function){.symbol = text, .place = start};
	*place = number + 1ULL;
	return made;
}

const struct tally_given_function *tally_fleet_function(struct fleet_functions *functions,
							struct fleet_name name, const char *text,
							uint64_t start)
{
	uint64_t key = word_of(name), *place;
	bool added;

	if (!start || !tally_map_find(&functions->several, key)) {
		place = tally_map_put(&functions->by_name, key, &added);
		if (place && !*place)
			return add(functions, place, text, start);
		return place ? function_at(functions, *place - 1) : NULL;
	}
	for (key = hash_pair(key, start);; key = hash_u64(key)) {
		const struct tally_given_function *known;

		place = tally_map_put(&functions->by_start, key, &added);
		if (!place)
			return NULL;
		if (!*place)
			return add(functions, place, text, start);
		known = function_at(functions, *place - 1);
		if (known->symbol == text && known->place == start)
			return known;
	}
}
