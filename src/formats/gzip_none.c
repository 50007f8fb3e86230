/* Without zlib: the same format, its blocks stored as they are.  Source: RFC 1951 and RFC 1952. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "formats/gzip.h"

#define BLOCK_MOST 65535U

struct tally_gzip {
	FILE *to;
	uint32_t table[256], check, total;
	uint8_t block[BLOCK_MOST];
	uint32_t size;
};

static int put(const struct tally_gzip *gzip, const void *bytes, size_t size)
{
	errno = 0;
	if (fwrite(bytes, 1, size, gzip->to) != size)
		return errno ? -errno : -EIO;
	return 0;
}

static int put_number(const struct tally_gzip *gzip, uint32_t value, unsigned size)
{
	uint8_t bytes[4];

	for (unsigned i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> (i * 8));
	return put(gzip, bytes, size);
}

int tally_gzip_new(FILE *to, struct tally_gzip **ret)
{
	static const uint8_t header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
	struct tally_gzip *gzip = calloc(1, sizeof(*gzip));
	int result;

	if (!gzip)
		return -ENOMEM;
	gzip->to = to;
	gzip->check = UINT32_MAX;
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t value = i;

		for (unsigned bit = 0; bit < 8; bit++)
			value = value & 1 ? 0xedb88320U ^ value >> 1 : value >> 1;
		gzip->table[i] = value;
	}
	result = put(gzip, header, sizeof(header));
	if (result)
		free(gzip);
	else
		*ret = gzip;
	return result;
}

static int put_block(struct tally_gzip *gzip, bool last)
{
	int result = put_number(gzip, last, 1);

	if (!result)
		result = put_number(gzip, gzip->size, 2);
	if (!result)
		result = put_number(gzip, ~gzip->size, 2);
	if (!result)
		result = put(gzip, gzip->block, gzip->size);
	gzip->size = 0;
	return result;
}

int tally_gzip_add(struct tally_gzip *gzip, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;
	int result = 0;

	for (size_t i = 0; i < size; i++)
		gzip->check = gzip->table[(gzip->check ^ from[i]) & 0xff] ^ gzip->check >> 8;
	gzip->total += (uint32_t)size;
	while (size && !result) {
		size_t step = BLOCK_MOST - gzip->size < size ? BLOCK_MOST - gzip->size : size;

		memcpy(gzip->block + gzip->size, from, step);
		gzip->size += (uint32_t)step;
		from += step;
		size -= step;
		if (gzip->size == BLOCK_MOST)
			result = put_block(gzip, false);
	}
	return result;
}

int tally_gzip_end(struct tally_gzip *gzip)
{
	int result;

	if (!gzip)
		return 0;
	result = put_block(gzip, true);
	if (!result)
		result = put_number(gzip, ~gzip->check, 4);
	if (!result)
		result = put_number(gzip, gzip->total, 4);
	tally_gzip_free(gzip);
	return result;
}

void tally_gzip_free(struct tally_gzip *gzip)
{
	free(gzip);
}
