/* Memory for tables and arrays.  If a page from calloc() is read before it is written, it costs two
 * page faults, and with several threads also an interrupt of the other processors: reading maps the
 * page of zeros, and writing must replace it.  Tables are read before they are filled, so their
 * memory is written at once. */
#ifndef TALLY_BASE_TABLE_H
#define TALLY_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"

#define TABLE_HUGE ((uintptr_t)2 << 20)

/* Changes the length of a block, NULL for none, in bytes; NULL: out of memory, and the old one is
 * unchanged.  For free().  A table is read at random places, and each small page would be a miss of
 * the processor's page table cache: a large block begins where a huge page can, and is copied when
 * it grows, as realloc() would move its pages elsewhere, with small pages for huge ones. */
void *tally_block_resize(void *block, size_t bytes);

/* `count` elements, which are still to be written; NULL: out of memory.  For free(). */
static inline void *array_new(size_t count, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(count, size, &bytes) ? NULL : tally_block_resize(NULL, bytes);
}

/* `count` zeroed elements; NULL: out of memory.  For free(). */
static inline void *table_new(size_t count, size_t size)
{
	void *table = array_new(count, size);

	if (!table)
		return NULL;
	/* The compiler must not join the two calls into calloc(). */
	__asm__ volatile("" : : "r"(table) : "memory");
	memset(table, 0, count * size);
	return table;
}

/* A larger table, both of a power of two, with the slots of one whose slots are 0, which is free,
 * or have a number in the lower half, and in the upper one that of a hash: a search begins there,
 * so growing reads nothing else.  The old one stays; NULL: out of memory.  For free(). */
uint64_t *tally_table_tagged(const uint64_t *old, uint32_t room, uint32_t larger);

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

/* Two cache lines, as processors fetch them in pairs.  Data that different threads write often must
 * be at least so far apart, in structures that are aligned to it. */
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

/* The room for `count` elements of an array that has `room` and grows by doubling; `least` at
 * first. */
static inline uint32_t array_room(uint32_t room, uint32_t count, uint32_t least)
{
	room = room ? room : least;
	while (room < count)
		room *= 2;
	return room;
}

/* The block that the pointer at `array`, of any type, points to. */
static inline void *array_block(const void *array)
{
	void *block;

	memcpy(&block, array, sizeof(block));
	return block;
}

/* Puts a block there, unless it is NULL; whether it was put. */
static inline bool array_becomes(void *array, void *block)
{
	if (block)
		memcpy(array, &block, sizeof(block));
	return block != NULL;
}

/* Changes the length of the array that the pointer at `array` points to; false: out of memory, and
 * the array is unchanged. */
static inline bool array_resize(void *array, size_t count, size_t size)
{
	size_t bytes;

	return !__builtin_mul_overflow(count, size, &bytes) &&
	       array_becomes(array, tally_block_resize(array_block(array), bytes));
}

/* array_next() where there is none. */
bool tally_array_double(void *array, size_t *room, size_t least, size_t size);

/* Room for one more element behind `count` of an array that has `room` and doubles, `least` at
 * first; false: out of memory, and the array is unchanged. */
static inline bool array_next(void *array, size_t *room, size_t count, size_t least, size_t size)
{
	return count < *room || tally_array_double(array, room, least, size);
}

/* Room for the element `index` of such an array, whose new elements are zero; false: out of memory,
 * and the array is unchanged. */
static inline bool array_reach(void *array, uint32_t *room, uint32_t index, uint32_t least,
			       size_t size)
{
	uint32_t more = array_room(*room, index + 1, least);
	uint8_t *bytes;

	if (more == *room)
		return true;
	if (!array_resize(array, more, size))
		return false;
	bytes = array_block(array);
	memset(bytes + *room * size, 0, (more - *room) * size);
	*room = more;
	return true;
}

#endif
