/* The unread bytes of a ring, which are in one or two parts, by their offset from the first.  Rings
 * and records are multiples of 8 bytes long, so no word of 8 bytes is in both parts. */
#ifndef TALLY_KERNEL_RING_PARTS_H
#define TALLY_KERNEL_RING_PARTS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/param.h>
#include <tally/abi.h>
#include <tally/ring.h>
#include "base/buf.h"
#include "base/bytes.h"

static inline size_t ring_parts_size(const struct tally_ring_bytes *bytes)
{
	return bytes->first_size + bytes->second_size;
}

static inline const uint8_t *ring_parts_at(const struct tally_ring_bytes *bytes, size_t at)
{
	return at < bytes->first_size ? bytes->first + at
				      : bytes->second + (at - bytes->first_size);
}

static inline uint64_t ring_parts_word(const struct tally_ring_bytes *bytes, size_t at)
{
	return load_u64(ring_parts_at(bytes, at));
}

/* [from, to) of them, in one or two parts again. */
static inline struct tally_ring_bytes ring_parts_span(const struct tally_ring_bytes *bytes,
						      size_t from, size_t to)
{
	size_t first_to = MIN(to, bytes->first_size), second_from = MAX(from, bytes->first_size);
	struct tally_ring_bytes span = {0};

	if (from < first_to) {
		span.first = bytes->first + from;
		span.first_size = first_to - from;
	}
	if (second_from < to) {
		span.second = bytes->second + (second_from - bytes->first_size);
		span.second_size = to - second_from;
	}
	return span;
}

/* Copies `size` bytes from an offset on. */
static inline void ring_parts_copy(const struct tally_ring_bytes *bytes, size_t at, size_t size,
				   uint8_t *to)
{
	struct tally_ring_bytes span = ring_parts_span(bytes, at, at + size);

	if (span.first_size)
		memcpy(to, span.first, span.first_size);
	if (span.second_size)
		memcpy(to + span.first_size, span.second, span.second_size);
}

/* Appends [from, to) to a buffer. */
static inline void ring_parts_add(struct tally_buf *buf, const struct tally_ring_bytes *bytes,
				  size_t from, size_t to)
{
	struct tally_ring_bytes span = ring_parts_span(bytes, from, to);

	tally_buf_add(buf, span.first, span.first_size);
	tally_buf_add(buf, span.second, span.second_size);
}

/* The header of the record at an offset; its size is 0 where no record can begin. */
static inline struct perf_event_header ring_parts_header(const struct tally_ring_bytes *bytes,
							 size_t at)
{
	struct perf_event_header header = {0};
	size_t left = ring_parts_size(bytes) - at;

	if (left < sizeof(header))
		return header;
	memcpy(&header, ring_parts_at(bytes, at), sizeof(header));
	if (header.size < sizeof(header) || header.size % 8 || header.size > left)
		header.size = 0;
	return header;
}

/* The record of that size at an offset in one piece: where it is, or copied to `joined`, which has
 * room for it, when it is in both parts. */
static inline const uint8_t *ring_parts_whole(const struct tally_ring_bytes *bytes, size_t at,
					      size_t size, uint8_t *joined)
{
	if (at >= bytes->first_size || at + size <= bytes->first_size)
		return ring_parts_at(bytes, at);
	ring_parts_copy(bytes, at, size, joined);
	return joined;
}

#endif
