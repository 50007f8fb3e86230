/* Memory that is allocated piece by piece and freed all at once. */
#ifndef TALLY_BASE_ARENA_H
#define TALLY_BASE_ARENA_H

#include <stddef.h>

struct tally_arena_block;

struct tally_arena { /* all zero is empty and valid */
	struct tally_arena_block *blocks;
	char *at, *end;
	size_t total; /* bytes taken from the system */
};

void tally_arena_done(struct tally_arena *arena);
void *tally_arena_alloc(struct tally_arena *arena, size_t size); /* 8-aligned, zeroed; or NULL */
char *tally_arena_strndup(struct tally_arena *arena, const char *text, size_t length);

#endif
