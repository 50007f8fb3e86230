/* Structs whose first member is their size, so that a program and the library may be of different
 * versions: options, which the library takes, and results, which it gives. */
#ifndef TALLY_BASE_OPTION_STRUCT_H
#define TALLY_BASE_OPTION_STRUCT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Copies the caller's struct `from` over `to`, which is `known` bytes and holds the defaults.  If
 * the caller's struct is shorter, the rest keeps the defaults.  If it is longer, the bytes that
 * this library does not know must be zero, otherwise they ask for something that it cannot do:
 * -E2BIG.  NULL: only defaults. */
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

/* Whether the caller set the size of a result. */
static inline bool tally_result_is_sized(const void *result)
{
	size_t size;

	memcpy(&size, result, sizeof(size));
	return size >= sizeof(size);
}

/* Copies the result `from`, which is `known` bytes, to the caller's struct `to`, as much of it as
 * fits into the size that the caller set; the size itself, and the bytes after the known ones, stay
 * unchanged.  -EINVAL: the caller did not set the size. */
static inline int tally_result_copy(void *to, size_t known, const void *from)
{
	size_t size;

	if (!tally_result_is_sized(to))
		return -EINVAL;
	memcpy(&size, to, sizeof(size));
	memcpy((uint8_t *)to + sizeof(size), (const uint8_t *)from + sizeof(size),
	       (size < known ? size : known) - sizeof(size));
	return 0;
}

#endif
