#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)64 * 1024)

struct tally_arena_block {
	struct tally_arena_block *next;
	char data[] __attribute__((aligned(16)));
};

void tally_arena_done(struct tally_arena *arena)
{
	struct tally_arena_block *block = arena->blocks, *next;

	for (; block; block = next) {
		next = block->next;
		free(block);
	}
	*arena = (struct tally_arena){0};
}

static char *take(struct tally_arena *arena, size_t size)
{
	struct tally_arena_block *block;
	size_t room = size > BLOCK_SIZE / 4 ? size : BLOCK_SIZE;
	char *at;

	if (size <= (size_t)(arena->end - arena->at)) {
		at = arena->at;
		arena->at += size;
		return at;
	}
	if (size > SIZE_MAX / 2)
		return NULL;
	block = malloc(sizeof(*block) + room);
	if (!block)
		return NULL;
	block->next = arena->blocks;
	arena->blocks = block;
	arena->total += sizeof(*block) + room;
	if (room ==
	    BLOCK_SIZE) { /* a large piece has a block of its own, and the rest stays in use */
		arena->at = block->data + size;
		arena->end = block->data + room;
	}
	return block->data;
}

void *tally_arena_alloc(struct tally_arena *arena, size_t size)
{
	char *at = arena->at ? arena->at + (-(uintptr_t)arena->at & 7) : NULL;

	if (at) /* too few bytes left to align are given up */
		arena->at = at <= arena->end ? at : arena->end;
	at = take(arena, size);
	if (at)
		memset(at, 0, size);
	return at;
}

char *tally_arena_strndup(struct tally_arena *arena, const char *text, size_t length)
{
	char *copy = take(arena, length + 1);

	if (!copy)
		return NULL;
	if (length) /* an empty text may be NULL */
		memcpy(copy, text, length);
	copy[length] = 0;
	return copy;
}
