/* Source: Snappy's format_description.txt. */
#include <string.h>
#include "parquet/parquet_read.h"

static uint32_t little(const uint8_t *bytes, unsigned count)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < count; i++)
		value |= (uint32_t)bytes[i] << 8 * i;
	return value;
}

/* Copies that overlap repeat what they made. */
static bool copy_back(uint8_t *ret, size_t *done, size_t ret_size, uint32_t back, uint32_t length)
{
	if (!back || back > *done || length > ret_size - *done)
		return false;
	for (uint32_t i = 0; i < length; i++, ++*done)
		ret[*done] = ret[*done - back];
	return true;
}

bool tally_parquet_read_snappy(const uint8_t *bytes, size_t size, uint8_t *ret, size_t ret_size)
{
	size_t at = 0, done = 0;
	uint64_t whole = 0;

	for (unsigned shift = 0;; shift += 7) {
		if (at == size || shift > 28)
			return false;
		whole |= (uint64_t)(bytes[at] & 0x7f) << shift;
		if (!(bytes[at++] & 0x80))
			break;
	}
	if (whole != ret_size)
		return false;
	while (at < size) {
		uint8_t tag = bytes[at++];
		unsigned kind = tag & 3, more = kind == 0 ? 0 : kind == 3 ? 4 : kind;
		uint32_t length = tag >> 2;

		if (!kind) { /* bytes as they are; long ones have their length behind the tag */
			if (length >= 60) {
				more = length - 59;
				if (more > size - at)
					return false;
				length = little(bytes + at, more);
				at += more;
			}
			if (length >= size - at || length >= ret_size - done)
				return false;
			memcpy(ret + done, bytes + at, length + 1ULL);
			at += length + 1ULL;
			done += length + 1ULL;
			continue;
		}
		if (more > size - at)
			return false;
		if (kind == 1) {
			if (!copy_back(ret, &done, ret_size, (uint32_t)(tag >> 5) << 8 | bytes[at],
				       (length & 7) + 4))
				return false;
		} else if (!copy_back(ret, &done, ret_size, little(bytes + at, more), length + 1)) {
			return false;
		}
		at += more;
	}
	return done == ret_size;
}
