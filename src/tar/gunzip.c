#include "tar/gunzip.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/param.h>
#include <zlib.h>

#define ROOM 65536U

/* Of deflateInit2(): the largest window, and a gzip header is expected. */
#define WINDOW (15 + 16)

/* Members may stand one behind another, as pigz and bgzip write them. */
static int next_state(z_stream *stream, size_t left)
{
	int state;

	state = inflate(stream, Z_NO_FLUSH);
	return state == Z_STREAM_END && (stream->avail_in || left) ? inflateReset(stream) : state;
}

static int expand(z_stream *stream, const uint8_t *bytes, size_t size, uint8_t *room,
		  tally_inflate_fn take, void *context)
{
	for (;;) {
		int state, code = 0;

		if (!stream->avail_in) {
			stream->next_in = (uint8_t *)(uintptr_t)bytes;
			stream->avail_in = (unsigned)MIN(size, (size_t)UINT_MAX);
			bytes += stream->avail_in;
			size -= stream->avail_in;
		}
		stream->next_out = room;
		stream->avail_out = ROOM;
		state = next_state(stream, size);
		if (stream->avail_out < ROOM)
			code = take(context, room, ROOM - stream->avail_out);
		if (code || state == Z_STREAM_END)
			return code;
		if (state != Z_OK) /* Z_BUF_ERROR: no more comes in */
			return state == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
	}
}

int tally_gunzip(const uint8_t *bytes, size_t size, tally_inflate_fn take, void *context)
{
	uint8_t *room = malloc(ROOM);
	z_stream stream = {.next_in = NULL};
	int code = -ENOMEM;

	if (room && inflateInit2(&stream, WINDOW) == Z_OK) {
		code = expand(&stream, bytes, size, room, take, context);
		inflateEnd(&stream);
	}
	free(room);
	return code;
}
