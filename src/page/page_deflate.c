/* Source: RFC 1950. */
#include "page/page_deflate.h"

#include "base/deflate_blocks.h"

/* zlib's default level, 6, takes more than twice as long for five hundredths of the size. */
#define LEVEL 4

void tally_page_deflate(const struct tally_buf *bytes, bool plain, struct tally_buf *to)
{
	uint32_t check = tally_adler32(bytes->data, bytes->size);

	if (bytes->failed)
		to->failed = bytes->failed;
	tally_buf_add(to, "\x78\x01", 2);
	tally_deflate_blocks(bytes->data, bytes->size, plain ? 0 : LEVEL, true, to);
	for (unsigned shift = 32; shift; shift -= 8)
		tally_buf_byte(to, (uint8_t)(check >> (shift - 8)));
}
