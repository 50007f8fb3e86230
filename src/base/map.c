#include "base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"

void tally_map_done(struct tally_map *map)
{
	free(map->slots);
	*map = (struct tally_map){0};
}

static struct tally_map_slot *seek(const struct tally_map *map, uint64_t key)
{
	size_t mask = map->room - 1, at = hash_u64(key) & mask;

	while (map->slots[at].key && map->slots[at].key != key)
		at = (at + 1) & mask;
	return &map->slots[at];
}

uint64_t *tally_map_find(const struct tally_map *map, uint64_t key)
{
	struct tally_map_slot *slot;

	if (!key)
		return map->has_zero ? (uint64_t *)&map->zero_value : NULL;
	if (!map->room)
		return NULL;
	slot = seek(map, key);
	return slot->key ? &slot->value : NULL;
}

static int grow(struct tally_map *map)
{
	struct tally_map next = {.room = map->room ? map->room * 2 : 64};

	next.slots = calloc(next.room, sizeof(*next.slots));
	if (!next.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->room; i++)
		if (map->slots[i].key)
			*seek(&next, map->slots[i].key) = map->slots[i];
	free(map->slots);
	map->slots = next.slots;
	map->room = next.room;
	return 0;
}

uint64_t *tally_map_put(struct tally_map *map, uint64_t key, bool *added)
{
	struct tally_map_slot *slot;

	*added = false;
	if (!key) {
		*added = !map->has_zero;
		if (*added)
			map->zero_value = 0;
		map->has_zero = true;
		return &map->zero_value;
	}
	if (map->count * 3 >= map->room * 2 && grow(map))
		return NULL;
	slot = seek(map, key);
	if (!slot->key) {
		*slot = (struct tally_map_slot){.key = key};
		map->count++;
		*added = true;
	}
	return &slot->value;
}

void tally_strings_done(struct tally_strings *strings)
{
	tally_arena_done(&strings->arena);
	free(strings->text);
	free(strings->length);
	free(strings->hash);
	free(strings->slots);
	*strings = (struct tally_strings){0};
}

static int grow_ids(struct tally_strings *strings)
{
	size_t room = strings->room ? strings->room * 2 : 64;
	void *text = reallocarray(strings->text, room, sizeof(*strings->text));
	void *length, *hash;

	if (text)
		strings->text = text;
	length = reallocarray(strings->length, room, sizeof(*strings->length));
	if (length)
		strings->length = length;
	hash = reallocarray(strings->hash, room, sizeof(*strings->hash));
	if (hash)
		strings->hash = hash;
	if (!text || !length || !hash)
		return -ENOMEM;
	strings->room = room;
	return 0;
}

static int grow_slots(struct tally_strings *strings)
{
	size_t room = strings->slot_room ? strings->slot_room * 2 : 128;
	uint32_t *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t id = 0; id < strings->count; id++) {
		size_t at = strings->hash[id] & (room - 1);

		while (slots[at])
			at = (at + 1) & (room - 1);
		slots[at] = (uint32_t)id + 1;
	}
	free(strings->slots);
	strings->slots = slots;
	strings->slot_room = room;
	return 0;
}

int64_t tally_strings_intern(struct tally_strings *strings, const char *text, size_t length)
{
	uint64_t hash = tally_hash_bytes(text, length);
	size_t at;
	char *copy;

	if (strings->count * 2 >= strings->slot_room && grow_slots(strings))
		return -ENOMEM;
	for (at = hash & (strings->slot_room - 1); strings->slots[at];
	     at = (at + 1) & (strings->slot_room - 1)) {
		size_t id = strings->slots[at] - 1;

		if (strings->hash[id] == hash && strings->length[id] == length &&
		    !memcmp(strings->text[id], text, length))
			return (int64_t)id;
	}
	if (length > UINT32_MAX || strings->count >= UINT32_MAX - 1 ||
	    (strings->count == strings->room && grow_ids(strings)))
		return -ENOMEM;
	copy = tally_arena_strndup(&strings->arena, text, length);
	if (!copy)
		return -ENOMEM;
	strings->text[strings->count] = copy;
	strings->length[strings->count] = (uint32_t)length;
	strings->hash[strings->count] = hash;
	strings->slots[at] = (uint32_t)++strings->count;
	return (int64_t)strings->count - 1;
}
