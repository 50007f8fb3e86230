/* Reads call frame information byte by byte: reading past the end gives 0 and sets `failed`. */
#ifndef TALLY_UNWIND_CFI_BYTES_H
#define TALLY_UNWIND_CFI_BYTES_H

#include <stdbool.h>
#include "base/bytes.h"

struct cfi_bytes {
	const uint8_t *at, *end;
	bool failed;
};

static inline bool cfi_more(const struct cfi_bytes *bytes)
{
	return !bytes->failed && bytes->at < bytes->end;
}

/* The address of so many bytes, which are skipped; NULL: there are fewer. */
static inline const uint8_t *cfi_take(struct cfi_bytes *bytes, uint64_t size)
{
	const uint8_t *at = bytes->at;

	if (bytes->failed || size > (uint64_t)(bytes->end - at)) {
		bytes->failed = true;
		return NULL;
	}
	bytes->at += size;
	return at;
}

static inline uint64_t cfi_fixed(struct cfi_bytes *bytes, unsigned size)
{
	const uint8_t *at = cfi_take(bytes, size);

	return at ? load_uint(at, size) : 0;
}

/* LEB128, whose sign is in its last byte. */
static inline uint64_t cfi_leb(struct cfi_bytes *bytes, bool is_signed)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = cfi_fixed(bytes, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && shift < 64 && (byte & 0x40))
		value |= ~0ULL << shift;
	return value;
}

static inline uint64_t cfi_uleb(struct cfi_bytes *bytes)
{
	return cfi_leb(bytes, false);
}

static inline int64_t cfi_sleb(struct cfi_bytes *bytes)
{
	return (int64_t)cfi_leb(bytes, true);
}

#endif
