#include "profile/contexts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"

void tally_contexts_done(struct tally_contexts *contexts)
{
	free(contexts->list);
	free(contexts->values);
	free(contexts->slots);
	*contexts = (struct tally_contexts){0};
}

static uint32_t hash_of(uint32_t event, const uint64_t *values, uint32_t width)
{
	uint64_t hash = hash_u64(event);

	for (uint32_t i = 0; i < width; i++)
		hash = hash_mix(hash, values[i] + 1);
	return (uint32_t)hash;
}

static int grow(struct tally_contexts *contexts)
{
	uint32_t room = contexts->room ? contexts->room * 2 : 32, slot_room = room * 2;
	size_t width = contexts->width ? contexts->width : 1;
	struct tally_context *list;
	uint64_t *values;
	uint32_t *slots;

	if (room > UINT32_MAX / 4)
		return -ENOMEM;
	list = reallocarray(contexts->list, room, sizeof(*list));
	if (!list)
		return -ENOMEM;
	contexts->list = list;
	values = reallocarray(contexts->values, room, width * sizeof(*values));
	if (!values)
		return -ENOMEM;
	contexts->values = values;
	slots = calloc(slot_room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < contexts->count; i++) {
		uint32_t at =
		    hash_of(list[i].event, contexts_values(contexts, i), contexts->width) &
		    (slot_room - 1);

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

int64_t tally_contexts_put(struct tally_contexts *contexts, uint32_t event, const uint64_t *values)
{
	size_t size = contexts->width * sizeof(*values);
	uint32_t at;

	if (contexts->count == contexts->room && grow(contexts))
		return -ENOMEM;
	for (at = hash_of(event, values, contexts->width) & (contexts->slot_room - 1);
	     contexts->slots[at]; at = (at + 1) & (contexts->slot_room - 1)) {
		uint32_t number = contexts->slots[at] - 1;

		if (contexts->list[number].event == event &&
		    (!size || !memcmp(contexts_values(contexts, number), values, size)))
			return number;
	}
	contexts->list[contexts->count] = (struct tally_context){.event = event};
	if (size)
		memcpy(contexts_values(contexts, contexts->count), values, size);
	contexts->slots[at] = ++contexts->count;
	return contexts->count - 1;
}
