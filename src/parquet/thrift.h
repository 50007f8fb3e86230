/* Thrift's compact protocol, as much as the metadata of Parquet needs.
 *
 *	struct thrift thrift = {.to = &buf};
 *
 *	thrift_i32(&thrift, 1, 2);
 *	thrift_struct(&thrift, 5);
 *	thrift_text(&thrift, 1, "x", 1);
 *	thrift_end(&thrift);
 *	thrift_stop(&thrift);
 *
 * writes the struct {1: 2, 5: {1: "x"}}.  Fields of a struct must ascend, each by less than 16,
 * and structs are at most THRIFT_DEPTH - 1 deep.  Only the buffer
 * allocates: check its `failed` at the end.  Source: Thrift's thrift-compact-protocol.md. */
#ifndef TALLY_PARQUET_THRIFT_H
#define TALLY_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/buf.h"

#define THRIFT_DEPTH 8U

struct thrift {
	struct tally_buf *to;
	int last[THRIFT_DEPTH]; /* the last field of each open struct */
	unsigned depth;
};

/* The types of fields and of list elements. */
enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_FALSE = 2,
	THRIFT_I8 = 3,
	THRIFT_I16 = 4,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_DOUBLE = 7,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_SET = 10,
	THRIFT_STRUCT = 12,
};

/* LEB128. */
static inline void thrift_varint(struct tally_buf *to, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		tally_buf_byte(to, (uint8_t)(value | 0x80));
	tally_buf_byte(to, (uint8_t)value);
}

/* Small numbers of either sign become small ones. */
static inline uint64_t thrift_zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline void thrift_field(struct thrift *thrift, int field, enum thrift_type type)
{
	int step = field - thrift->last[thrift->depth];

	tally_buf_byte(thrift->to, (uint8_t)((unsigned)step << 4 | type));
	thrift->last[thrift->depth] = field;
}

static inline void thrift_i32(struct thrift *thrift, int field, int32_t value)
{
	thrift_field(thrift, field, THRIFT_I32);
	thrift_varint(thrift->to, thrift_zigzag(value));
}

static inline void thrift_i64(struct thrift *thrift, int field, int64_t value)
{
	thrift_field(thrift, field, THRIFT_I64);
	thrift_varint(thrift->to, thrift_zigzag(value));
}

static inline void thrift_bool(struct thrift *thrift, int field, bool value)
{
	thrift_field(thrift, field, value ? THRIFT_TRUE : THRIFT_FALSE);
}

/* The bytes alone, as an element of a list. */
static inline void thrift_bytes(struct thrift *thrift, const void *bytes, size_t size)
{
	thrift_varint(thrift->to, size);
	tally_buf_add(thrift->to, bytes, size);
}

static inline void thrift_text(struct thrift *thrift, int field, const void *bytes, size_t size)
{
	thrift_field(thrift, field, THRIFT_BINARY);
	thrift_bytes(thrift, bytes, size);
}

static inline void thrift_list(struct thrift *thrift, int field, enum thrift_type type,
			       uint32_t count)
{
	thrift_field(thrift, field, THRIFT_LIST);
	if (count < 15) {
		tally_buf_byte(thrift->to, (uint8_t)(count << 4 | type));
		return;
	}
	tally_buf_byte(thrift->to, (uint8_t)(0xf0 | type));
	thrift_varint(thrift->to, count);
}

/* A struct begins as an element of a list; thrift_end() ends it. */
static inline void thrift_element(struct thrift *thrift)
{
	thrift->depth++;
	thrift->last[thrift->depth] = 0;
}

static inline void thrift_struct(struct thrift *thrift, int field)
{
	thrift_field(thrift, field, THRIFT_STRUCT);
	thrift_element(thrift);
}

/* Ends the outermost struct. */
static inline void thrift_stop(struct thrift *thrift)
{
	tally_buf_byte(thrift->to, 0);
	thrift->last[thrift->depth] = 0;
}

static inline void thrift_end(struct thrift *thrift)
{
	thrift_stop(thrift);
	thrift->depth--;
}

/* A struct without fields, as unions of Parquet have them. */
static inline void thrift_empty(struct thrift *thrift, int field)
{
	thrift_struct(thrift, field);
	thrift_end(thrift);
}

#endif
