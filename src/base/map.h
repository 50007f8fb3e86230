/* Open-addressing tables: u64 -> u64, and an intern table of strings. */
#ifndef TALLY_BASE_MAP_H
#define TALLY_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"

struct tally_map_slot {
	uint64_t key, value;
};

struct tally_map { /* all zero is empty and valid */
	struct tally_map_slot *slots;
	size_t room, count; /* room is a power of two */
	bool has_zero;      /* the key 0 marks a free slot and has its own place */
	uint64_t zero_value;
};

void tally_map_done(struct tally_map *map);
/* The value's place, or NULL.  Borrowed until the next put. */
uint64_t *tally_map_find(const struct tally_map *map, uint64_t key);
/* Fetches what a search for that key reads first. */
static inline void map_fetch(const struct tally_map *map, uint64_t key)
{
	if (map->room)
		__builtin_prefetch(&map->slots[hash_u64(key) & (map->room - 1)]);
}
/* Finds or adds; *added says which.  NULL: out of memory.  A new value is 0. */
uint64_t *tally_map_put(struct tally_map *map, uint64_t key, bool *added);

/* Strings by number: equal strings get the same id, ids count from 0 in order of arrival. */
struct tally_strings {
	struct tally_arena arena;
	const char **text; /* by id */
	uint32_t *length;  /* by id */
	uint64_t *hash;    /* by id */
	uint32_t *slots;   /* id + 1, 0 is free */
	size_t count, room, slot_room;
};

void tally_strings_done(struct tally_strings *strings);
/* The id, or -ENOMEM. */
int64_t tally_strings_intern(struct tally_strings *strings, const char *text, size_t length);

#endif
