/* Memory for tables and arrays.  A page of calloc()'s that is read before it is written costs two
 * page faults, and with several threads an interrupt to the other processors besides: reading maps
 * the page of zeros, which writing must take back.  Tables are probed before they are filled, so
 * theirs is written at once. */
#ifndef TALLY_BASE_TABLE_H
#define TALLY_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"

/* `count` zeroed elements; NULL: out of memory.  For free(). */
static inline void *table_new(size_t count, size_t size)
{
	void *table;

	if (size && count > PTRDIFF_MAX / size)
		return NULL;
	table = malloc(count * size);
	if (!table)
		return NULL;
	/* The compiler must not make a calloc() of the two. */
	__asm__ volatile("" : : "r"(table) : "memory");
	memset(table, 0, count * size);
	return table;
}

/* Of a counting sort: counts by digit become the places where each digit's elements start. */
static inline void counts_to_starts(uint32_t *counts, uint32_t digits)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < digits; i++) {
		uint32_t here = counts[i];

		counts[i] = at;
		at += here;
	}
}

/* Two lines of the caches, as they are fetched in pairs.  What threads write all the time is apart
 * by so much: of structures that are aligned to it. */
#define TABLE_APART 128

/* The same, aligned to TABLE_APART. */
static inline void *table_apart(size_t count, size_t size)
{
	size_t bytes;
	void *table;

	if (size && count > (PTRDIFF_MAX - TABLE_APART) / size)
		return NULL;
	bytes = align_up(count * size, TABLE_APART);
	table = aligned_alloc(TABLE_APART, bytes);
	return table ? memset(table, 0, bytes) : NULL;
}

/* Gives the array that the pointer at `array` points to another length; false: out of memory, and
 * it is as it was. */
static inline bool array_resize(void *array, size_t count, size_t size)
{
	void *old, *new;

	memcpy(&old, array, sizeof(old));
	new = reallocarray(old, count, size);
	if (new)
		memcpy(array, &new, sizeof(new));
	return new != NULL;
}

#endif
