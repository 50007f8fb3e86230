/* Thrift's compact protocol read, field by field:
 *
 *	struct thrift_from from = {.at = bytes, .end = bytes + size};
 *	struct thrift_place place = {0};
 *
 *	while (thrift_next(&from, &place))
 *		if (place.field == 3)
 *			rows = thrift_number(&from, &place);
 *		else
 *			tally_thrift_skip(&from, place.type, 0);
 *
 * Damage sets `failed`, after which all ends.  Source: Thrift's thrift-compact-protocol.md. */
#ifndef TALLY_PARQUET_THRIFT_READ_H
#define TALLY_PARQUET_THRIFT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "parquet/thrift.h"

struct thrift_from {
	const uint8_t *at, *end;
	bool failed;
};

struct thrift_place {
	int field;
	unsigned type;
};

static inline uint8_t thrift_byte(struct thrift_from *from)
{
	if (from->at < from->end)
		return *from->at++;
	from->failed = true;
	return 0;
}

static inline uint64_t thrift_read_varint(struct thrift_from *from)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = thrift_byte(from);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	from->failed = true;
	return 0;
}

static inline int64_t thrift_read_signed(struct thrift_from *from)
{
	uint64_t value = thrift_read_varint(from);

	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* The next field of a struct; false: it has ended, or is damaged. */
static inline bool thrift_next(struct thrift_from *from, struct thrift_place *place)
{
	uint8_t byte = thrift_byte(from);

	if (from->failed || !byte)
		return false;
	place->type = byte & 15;
	if (byte >> 4)
		place->field += byte >> 4;
	else
		place->field = (int16_t)thrift_read_signed(from);
	return !from->failed;
}

/* The number of elements, and their type. */
static inline uint32_t thrift_read_list(struct thrift_from *from, unsigned *ret_type)
{
	uint8_t byte = thrift_byte(from);
	uint64_t count = byte >> 4 == 15 ? thrift_read_varint(from) : byte >> 4;

	*ret_type = byte & 15;
	/* Each element takes a byte at least. */
	if (count > (uint64_t)(from->end - from->at))
		from->failed = true;
	return from->failed ? 0 : (uint32_t)count;
}

/* Bytes that are read where they are; NULL: damaged. */
static inline const uint8_t *thrift_read_bytes(struct thrift_from *from, size_t *ret_size)
{
	uint64_t size = thrift_read_varint(from);
	const uint8_t *bytes = from->at;

	if (from->failed || size > (uint64_t)(from->end - from->at)) {
		from->failed = true;
		*ret_size = 0;
		return NULL;
	}
	from->at += size;
	*ret_size = (size_t)size;
	return bytes;
}

/* Over a value of a type, and all within it. */
void tally_thrift_skip(struct thrift_from *from, unsigned type, unsigned depth);

/* A field that is a whole number; 0, if it is something else. */
static inline int64_t thrift_number(struct thrift_from *from, const struct thrift_place *place)
{
	if (place->type == THRIFT_I16 || place->type == THRIFT_I32 || place->type == THRIFT_I64)
		return thrift_read_signed(from);
	tally_thrift_skip(from, place->type, 0);
	return 0;
}

#endif
