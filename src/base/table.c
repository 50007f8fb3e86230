#include "base/table.h"

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
