#include "base/table.h"

#include <malloc.h>

/* Blocks from so many bytes on stay with realloc(): their copy would need the room twice. */
#define COPIED_MOST ((size_t)256 << 20)

/* A large block begins where a huge page can.  It is copied when it grows: realloc() would move its
 * pages to another place, with small pages for huge ones. */
static void *large_block(void *old, size_t bytes)
{
	void *block;

	if (posix_memalign(&block, TABLE_HUGE, bytes))
		return NULL;
	table_huge(block, bytes);
	if (old)
		memcpy(block, old, malloc_usable_size(old));
	free(old);
	return block;
}

void *tally_block_resize(void *block, size_t bytes)
{
	void *resized;

	if (bytes >= TABLE_HUGE && bytes < COPIED_MOST &&
	    (!block || malloc_usable_size(block) < bytes))
		return large_block(block, bytes);
	resized = realloc(block, bytes);
	if (resized)
		table_huge(resized, bytes);
	return resized;
}

bool tally_array_double(void *array, size_t *room, size_t least, size_t size)
{
	size_t more = *room ? *room * 2 : least;

	if (!array_resize(array, more, size))
		return false;
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
