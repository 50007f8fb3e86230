/* Reading debug information byte by byte, never past its end: what is read behind a failure is 0.
 */
#ifndef TALLY_DWARF_DWARF_CURSOR_H
#define TALLY_DWARF_DWARF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct dwarf_bytes { /* of a section, or part of one; data is NULL when there is none */
	const uint8_t *data;
	size_t size;
};

struct dwarf_cursor {
	const uint8_t *at, *end;
	bool failed;
	bool swap; /* the file is of the other byte order */
};

static inline struct dwarf_cursor cursor_at(struct dwarf_bytes bytes, uint64_t offset, bool swap)
{
	struct dwarf_cursor cursor = {.failed = !bytes.data || offset > bytes.size, .swap = swap};

	if (!cursor.failed) {
		cursor.at = bytes.data + offset;
		cursor.end = bytes.data + bytes.size;
	}
	return cursor;
}

static inline size_t cursor_left(const struct dwarf_cursor *cursor)
{
	return cursor->failed ? 0 : (size_t)(cursor->end - cursor->at);
}

static inline const uint8_t *cursor_take(struct dwarf_cursor *cursor, uint64_t size)
{
	const uint8_t *at = cursor->at;

	if (size > cursor_left(cursor)) {
		cursor->failed = true;
		return NULL;
	}
	cursor->at += size;
	return at;
}

static inline uint8_t cursor_u8(struct dwarf_cursor *cursor)
{
	const uint8_t *at = cursor_take(cursor, 1);

	return at ? *at : 0;
}

/* A number of 1, 2, 3, 4 or 8 bytes. */
static inline uint64_t cursor_uint(struct dwarf_cursor *cursor, unsigned size)
{
	const uint8_t *at = cursor_take(cursor, size);
	const uint16_t one = 1;
	bool little = (*(const uint8_t *)&one == 1) != cursor->swap;

	if (!at)
		return 0;
	switch (size) {
	case 1:
		return *at;
	case 2:
		return cursor->swap ? __builtin_bswap16(load_u16(at)) : load_u16(at);
	case 3:
		return little ? at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16
			      : at[2] | (uint32_t)at[1] << 8 | (uint32_t)at[0] << 16;
	case 4:
		return cursor->swap ? __builtin_bswap32(load_u32(at)) : load_u32(at);
	default:
		return cursor->swap ? __builtin_bswap64(load_u64(at)) : load_u64(at);
	}
}

/* LEB128, whose sign is in its last byte. */
static inline uint64_t cursor_leb(struct dwarf_cursor *cursor, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(cursor);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && shift < 64 && byte & 0x40)
		value |= ~(uint64_t)0 << shift;
	return value;
}

static inline uint64_t cursor_uleb(struct dwarf_cursor *cursor)
{
	return cursor_leb(cursor, false);
}

static inline int64_t cursor_sleb(struct dwarf_cursor *cursor)
{
	return (int64_t)cursor_leb(cursor, true);
}

/* A string with its NUL; NULL: there is no NUL. */
static inline const char *cursor_text(struct dwarf_cursor *cursor)
{
	const uint8_t *at = cursor->at;
	const uint8_t *nul = cursor_left(cursor) ? memchr(at, 0, cursor_left(cursor)) : NULL;

	if (!nul) {
		cursor->failed = true;
		return NULL;
	}
	cursor->at = nul + 1;
	return (const char *)at;
}

/* The string at an offset of a section of strings; NULL: there is none. */
static inline const char *dwarf_text_at(struct dwarf_bytes strings, uint64_t offset)
{
	struct dwarf_cursor cursor = cursor_at(strings, offset, false);

	/* Most are never looked at, so the end of one is not searched where each has one. */
	if (cursor_left(&cursor) && !cursor.end[-1])
		return (const char *)cursor.at;
	return cursor_text(&cursor);
}

/* The length of what follows, by which it also says how long offsets are: 4 or 8 bytes.  Source:
 * DWARF 5, 7.4.  Reserved lengths fail. */
static inline uint64_t cursor_length(struct dwarf_cursor *cursor, uint8_t *ret_offset_size)
{
	uint64_t length = cursor_uint(cursor, 4);

	*ret_offset_size = 4;
	if (length == UINT32_MAX) {
		*ret_offset_size = 8;
		length = cursor_uint(cursor, 8);
	} else if (length >= 0xfffffff0U) {
		cursor->failed = true;
	}
	if (length > cursor_left(cursor)) {
		cursor->failed = true;
		return 0;
	}
	return length;
}

#endif
