#include "base/table.h"

#include <malloc.h>
#include <sys/mman.h>

/* Copies a block, and gives the memory of what is copied back at once, so that the room is not
 * needed twice. */
static void move_out(uint8_t *from, size_t bytes, uint8_t *to)
{
	size_t part;

	for (size_t at = 0; at < bytes; at += part) {
		part = bytes - at < TABLE_HUGE ? bytes - at : TABLE_HUGE;
		memcpy(to + at, from + at, part);
		if (part == TABLE_HUGE) /* refused where no page begins, which does not matter */
			(void)madvise(from + at, part, MADV_DONTNEED);
	}
	free(from);
}

void *tally_block_resize(void *block, size_t bytes)
{
	size_t known = malloc_usable_size(block);
	void *large;

	if (bytes < TABLE_HUGE || known >= bytes)
		return realloc(block, bytes);
	if (posix_memalign(&large, TABLE_HUGE, bytes))
		return NULL;
	(void)madvise(large, bytes, MADV_HUGEPAGE); /* failure does not matter */
	move_out(block, known, large);
	return large;
}

/* What grows so is read in its order, for which small pages do. */
bool tally_array_double(void *array, size_t *room, size_t least, size_t size)
{
	size_t more = *room ? *room * 2 : least;

	if (!array_becomes(array, reallocarray(array_block(array), more, size)))
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
