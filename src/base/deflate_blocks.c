#include "base/deflate_blocks.h"

#include <errno.h>
#include <zlib.h>

/* Of zlib: a window of 32 KiB, and no header around the blocks. */
#define WINDOW_RAW (-15)
#define MEMORY     8
/* zlib counts bytes of a call in 32 bits. */
#define STEP_MOST ((size_t)1 << 30)
#define ROOM_STEP 65536U

/* One step of the input; the output grows as it is needed. */
static int run(z_stream *stream, int flush, struct tally_buf *to)
{
	int state;

	do {
		if (tally_buf_reserve(to, ROOM_STEP))
			return -ENOMEM;
		stream->next_out = to->data + to->size;
		stream->avail_out = ROOM_STEP;
		state = deflate(stream, flush);
		to->size += ROOM_STEP - stream->avail_out;
	} while (flush == Z_FINISH ? state == Z_OK : !stream->avail_out);
	return 0;
}

void tally_deflate_blocks(const void *bytes, size_t size, int level, bool last,
			  struct tally_buf *to)
{
	z_stream stream = {.next_in = NULL};
	const uint8_t *from = bytes;
	int result = 0;

	if (deflateInit2(&stream, level ? level : 1, Z_DEFLATED, WINDOW_RAW, MEMORY,
			 level ? Z_DEFAULT_STRATEGY : Z_HUFFMAN_ONLY) != Z_OK) {
		to->failed = -ENOMEM;
		return;
	}
	do {
		size_t step = size < STEP_MOST ? size : STEP_MOST;

		stream.next_in = (uint8_t *)from;
		stream.avail_in = (uInt)step;
		if (step) /* `from` may be NULL when there is nothing */
			from += step;
		size -= step;
		result = run(&stream, size ? Z_NO_FLUSH : last ? Z_FINISH : Z_SYNC_FLUSH, to);
	} while (size && !result);
	deflateEnd(&stream);
}

uint32_t tally_crc32(uint32_t before, const void *bytes, size_t size)
{
	return (uint32_t)crc32_z(before, bytes, size);
}

uint32_t tally_adler32(const void *bytes, size_t size)
{
	return (uint32_t)adler32_z(1, bytes, size);
}
