#include "base/table.h"

#include <malloc.h>
#include <sys/mman.h>

/* Copies what a block has, and gives the memory of what is copied back at once, so that the room is
 * not needed twice. */
static void move_out(uint8_t *from, uint8_t *to)
{
	size_t bytes = malloc_usable_size(from), part;

	for (size_t at = 0; at < bytes; at += part) {
		part = bytes - at < TABLE_HUGE ? bytes - at : TABLE_HUGE;
		memcpy(to + at, from + at, part);
		if (part == TABLE_HUGE && !((uintptr_t)from % TABLE_HUGE))
			(void)madvise(from + at, part, MADV_DONTNEED);
	}
	free(from);
}

void *tally_block_resize(void *block, size_t bytes)
{
	void *large;

	if (bytes < TABLE_HUGE || (block && malloc_usable_size(block) >= bytes))
		return realloc(block, bytes);
	if (posix_memalign(&large, TABLE_HUGE, bytes))
		return NULL;
	(void)madvise(large, bytes, MADV_HUGEPAGE); /* failure does not matter */
	if (block)
		move_out(block, large);
	return large;
}

/* What grows so is read in its order, for which small pages do. */
bool tally_array_double(void *array, size_t *room, size_t least, size_t size)
{
	size_t more = *room ? *room * 2 : least;
	void *old, *new;

	memcpy(&old, array, sizeof(old));
	new = reallocarray(old, more, size);
	if (!new)
		return false;
	memcpy(array, &new, sizeof(new));
	*room = more;
	return true;
}

uint64_t *tally_table_tagged(const uint64_t *old, uint32_t room, uint32_t larger)
{
	uint64_t *slots = larger ? table_new(larger, sizeof(*slots)) : NULL;

	for (uint32_t i = 0; slots && i < room; i++) {
		uint32_t at = (uint32_t)(old[i] >> 32) & (larger - 1);

		if (!old[i])
			continue;
		while (slots[at])
			at = (at + 1) & (larger - 1);
		slots[at] = old[i];
	}
	return slots;
}
