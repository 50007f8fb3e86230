#include "export/sql_keys.h"

#include "base/bytes.h"
#include "base/table.h"

void tally_sql_keys_done(struct tally_sql_keys *keys)
{
	free(keys->slots);
	*keys = (struct tally_sql_keys){0};
}

static struct tally_sql_key *place(const struct tally_sql_keys *keys, uint64_t a, uint32_t b)
{
	size_t mask = keys->room - 1, at = hash_mix(hash_u64(a), b) & mask;

	while (keys->slots[at].number && (keys->slots[at].a != a || keys->slots[at].b != b))
		at = (at + 1) & mask;
	return &keys->slots[at];
}

static bool grow(struct tally_sql_keys *keys)
{
	struct tally_sql_keys grown = {.room = keys->room ? keys->room * 2 : 1024,
				       .count = keys->count};

	grown.slots = grown.room ? table_new(grown.room, sizeof(*grown.slots)) : NULL;
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < keys->room; i++)
		if (keys->slots[i].number)
			*place(&grown, keys->slots[i].a, keys->slots[i].b) = keys->slots[i];
	free(keys->slots);
	*keys = grown;
	return true;
}

uint32_t *tally_sql_keys_put(struct tally_sql_keys *keys, uint64_t a, uint32_t b)
{
	struct tally_sql_key *key;

	if (keys->count >= UINT32_MAX - 1 || (keys->count * 3 >= keys->room * 2 && !grow(keys)))
		return NULL;
	key = place(keys, a, b);
	if (!key->number) {
		*key = (struct tally_sql_key){.a = a, .b = b};
		keys->count++;
	}
	return &key->number;
}

uint32_t tally_sql_keys_number(struct tally_sql_keys *keys, uint64_t a, uint32_t b, bool *ret_added)
{
	uint32_t *number = tally_sql_keys_put(keys, a, b);

	if (!number)
		return 0;
	*ret_added = !*number;
	if (!*number)
		*number = (uint32_t)keys->count;
	return *number;
}
