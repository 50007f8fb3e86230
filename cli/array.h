/* Arrays that grow one by one. */
#ifndef TALLY_CLI_ARRAY_H
#define TALLY_CLI_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more element behind `count` of the array that the pointer at `array` points to,
 * which has `room` and doubles; false: out of memory, and the array is unchanged. */
static inline bool cli_array_next(void *array, size_t *room, size_t count, size_t size)
{
	size_t more = *room ? *room * 2 : 64;
	void *old, *new;

	if (count < *room)
		return true;
	memcpy(&old, array, sizeof(old));
	new = reallocarray(old, more, size);
	if (!new)
		return false;
	memcpy(array, &new, sizeof(new));
	*room = more;
	return true;
}

#endif
