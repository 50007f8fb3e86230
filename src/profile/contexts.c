#include "profile/contexts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/bytes.h"

void tally_contexts_done(struct tally_contexts *contexts)
{
	free(contexts->list);
	free(contexts->slots);
	*contexts = (struct tally_contexts){0};
}

static uint64_t hash_of(const struct tally_context *key)
{
	uint64_t hash = hash_u64((uint64_t)key->event << 32 | key->comm);

	hash = hash_mix(hash, (uint64_t)key->pid << 32 | key->tid);
	return hash_mix(hash, (uint64_t)key->cpu + 1);
}

static bool same(const struct tally_context *a, const struct tally_context *b)
{
	return a->event == b->event && a->comm == b->comm && a->pid == b->pid && a->tid == b->tid &&
	       a->cpu == b->cpu;
}

static int grow(struct tally_contexts *contexts)
{
	uint32_t room = contexts->room ? contexts->room * 2 : 32, slot_room = room * 2;
	struct tally_context *list;
	uint32_t *slots;

	if (room > UINT32_MAX / 4)
		return -ENOMEM;
	list = reallocarray(contexts->list, room, sizeof(*list));
	if (!list)
		return -ENOMEM;
	contexts->list = list;
	slots = calloc(slot_room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < contexts->count; i++) {
		uint32_t at = (uint32_t)hash_of(&list[i]) & (slot_room - 1);

		while (slots[at])
			at = (at + 1) & (slot_room - 1);
		slots[at] = i + 1;
	}
	free(contexts->slots);
	contexts->slots = slots;
	contexts->room = room;
	contexts->slot_room = slot_room;
	return 0;
}

int64_t tally_contexts_put(struct tally_contexts *contexts, const struct tally_context *key)
{
	uint32_t at;

	if (contexts->count == contexts->room && grow(contexts))
		return -ENOMEM;
	for (at = (uint32_t)hash_of(key) & (contexts->slot_room - 1); contexts->slots[at];
	     at = (at + 1) & (contexts->slot_room - 1))
		if (same(&contexts->list[contexts->slots[at] - 1], key))
			return contexts->slots[at] - 1;
	contexts->list[contexts->count] = *key;
	contexts->slots[at] = ++contexts->count;
	return contexts->count - 1;
}
