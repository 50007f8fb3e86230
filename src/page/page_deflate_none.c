/* Without zlib: a stream whose blocks are stored as they are.  Source: RFC 1950, and RFC
 * 1951, 3.2.4. */
#include "page/page_deflate.h"

#define BLOCK_MOST 65535U
#define ADLER      65521U

static uint32_t checksum(const struct tally_buf *bytes)
{
	uint32_t low = 1, high = 0;

	for (size_t i = 0; i < bytes->size; i++) {
		low = (low + bytes->data[i]) % ADLER;
		high = (high + low) % ADLER;
	}
	return high << 16 | low;
}

void tally_page_deflate(const struct tally_buf *bytes, struct tally_buf *to)
{
	uint32_t sum = checksum(bytes);
	size_t at = 0;

	if (bytes->failed)
		to->failed = bytes->failed;
	tally_buf_add(to, "\x78\x01", 2);
	do {
		size_t rest = bytes->size - at, size = rest < BLOCK_MOST ? rest : BLOCK_MOST;
		const uint8_t head[] = {size == rest, (uint8_t)size, (uint8_t)(size >> 8),
					(uint8_t)~size, (uint8_t)(~size >> 8)};

		tally_buf_add(to, head, sizeof(head));
		tally_buf_add(to, bytes->data + at, size);
		at += size;
	} while (at < bytes->size);
	for (unsigned shift = 32; shift; shift -= 8)
		tally_buf_byte(to, (uint8_t)(sum >> (shift - 8)));
}
