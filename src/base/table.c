#include "base/table.h"

bool tally_array_double(void *array, size_t *room, size_t least, size_t size)
{
	size_t more = *room ? *room * 2 : least;

	if (!array_resize(array, more, size))
		return false;
	*room = more;
	return true;
}
