/* Bytes to blocks of DEFLATE (RFC 1951), and the checksums of the formats around them.
 *
 * Each piece is made of its bytes alone, so that several threads can make pieces of one stream. */
#ifndef TALLY_BASE_DEFLATE_BLOCKS_H
#define TALLY_BASE_DEFLATE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"

/* Appends the blocks of some bytes.  With `last` the stream ends there; else it ends at a whole
 * byte, and the blocks of another piece may follow.  `level` is zlib's: 1 is fast, 9 is small; 0:
 * codes by the frequency of each byte alone, for numbers that do not repeat in sequences.  Built
 * without zlib the bytes are stored unchanged.  `to->failed` says whether memory was enough.
 */
void tally_deflate_blocks(const void *bytes, size_t size, int level, bool last,
			  struct tally_buf *to);
/* The CRC-32 of zlib and Ethernet of bytes behind others whose CRC is `before`; 0: there are
 * none. */
uint32_t tally_crc32(uint32_t before, const void *bytes, size_t size);
/* The Adler-32 of RFC 1950 of all bytes. */
uint32_t tally_adler32(const void *bytes, size_t size);

#endif
