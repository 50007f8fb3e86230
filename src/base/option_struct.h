/* Option structs whose first member is their size, so that callers and library may differ in age.
 */
#ifndef TALLY_BASE_OPTION_STRUCT_H
#define TALLY_BASE_OPTION_STRUCT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Copies the caller's struct `from` over `to`, which is `known` bytes and holds the defaults.  A
 * shorter struct leaves the rest as it is; a longer one must be zero beyond what is known, for else
 * it asks for something this library cannot do: -E2BIG.  NULL asks for nothing. */
static inline int tally_options_take(void *to, size_t known, const void *from)
{
	const uint8_t *bytes = from;
	size_t size;

	if (!from)
		return 0;
	memcpy(&size, from, sizeof(size));
	if (size < sizeof(size))
		return -EINVAL;
	for (size_t i = known; i < size; i++)
		if (bytes[i])
			return -E2BIG;
	memcpy(to, from, size < known ? size : known);
	return 0;
}

#endif
