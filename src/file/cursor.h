/* Reads values one after another from untrusted bytes.  A read past the end gives 0 and sets
 * `failed`, so that a series of reads needs one check at its end. */
#ifndef TALLY_FILE_CURSOR_H
#define TALLY_FILE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct file_cursor {
	const uint8_t *at, *end;
	bool swapped; /* the bytes are of the other order */
	bool failed;
};

static inline size_t cursor_left(const struct file_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

/* A pointer to `size` bytes, or NULL. */
static inline const uint8_t *cursor_bytes(struct file_cursor *cursor, uint64_t size)
{
	const uint8_t *at = cursor->at;

	if (cursor->failed || size > cursor_left(cursor)) {
		cursor->failed = true;
		return NULL;
	}
	cursor->at += size;
	return at;
}

static inline uint16_t cursor_u16(struct file_cursor *cursor)
{
	const uint8_t *at = cursor_bytes(cursor, 2);

	if (!at)
		return 0;
	return cursor->swapped ? __builtin_bswap16(load_u16(at)) : load_u16(at);
}

static inline uint32_t cursor_u32(struct file_cursor *cursor)
{
	const uint8_t *at = cursor_bytes(cursor, 4);

	if (!at)
		return 0;
	return cursor->swapped ? __builtin_bswap32(load_u32(at)) : load_u32(at);
}

static inline uint64_t cursor_u64(struct file_cursor *cursor)
{
	const uint8_t *at = cursor_bytes(cursor, 8);

	if (!at)
		return 0;
	return cursor->swapped ? __builtin_bswap64(load_u64(at)) : load_u64(at);
}

/* Reads a count of elements of at least `each` bytes; it fails if so many cannot fit in the
 * rest. */
static inline uint32_t cursor_count(struct file_cursor *cursor, size_t each)
{
	uint32_t count = cursor_u32(cursor);

	if (cursor->failed || count > cursor_left(cursor) / each) {
		cursor->failed = true;
		return 0;
	}
	return count;
}

#endif
