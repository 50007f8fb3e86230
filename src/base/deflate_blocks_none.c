/* Without zlib: blocks are stored as they are.  Source: RFC 1950, and RFC 1951, 3.2.4. */
#include "base/deflate_blocks.h"

#define BLOCK_MOST 65535U
#define ADLER      65521U

void tally_deflate_blocks(const void *bytes, size_t size, int level, bool last,
			  struct tally_buf *to)
{
	const uint8_t *from = bytes;
	size_t at = 0;

	(void)level;
	do {
		size_t rest = size - at, block = rest < BLOCK_MOST ? rest : BLOCK_MOST;
		const uint8_t head[] = {last && block == rest, (uint8_t)block,
					(uint8_t)(block >> 8), (uint8_t)~block,
					(uint8_t)(~block >> 8)};

		tally_buf_add(to, head, sizeof(head));
		tally_buf_add(to, from + at, block);
		at += block;
	} while (at < size);
}

uint32_t tally_crc32(uint32_t before, const void *bytes, size_t size)
{
	uint32_t table[256], check = ~before;
	const uint8_t *from = bytes;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320U : 0);
	}
	for (size_t i = 0; i < size; i++)
		check = table[(check ^ from[i]) & 255] ^ check >> 8;
	return ~check;
}

uint32_t tally_adler32(const void *bytes, size_t size)
{
	const uint8_t *from = bytes;
	uint32_t low = 1, high = 0;

	for (size_t i = 0; i < size; i++) {
		low = (low + from[i]) % ADLER;
		high = (high + low) % ADLER;
	}
	return high << 16 | low;
}
