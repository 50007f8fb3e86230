#include "tar/unxz.h"

#include <errno.h>
#include <stdlib.h>
#include <lzma.h>

#define ROOM 65536U

/* What xz -9 needs. */
#define DECODER_LIMIT ((uint64_t)80 << 20)

static int expand(lzma_stream *stream, uint8_t *room, tally_inflate_fn take, void *context)
{
	for (;;) {
		lzma_ret state;
		int code = 0;

		stream->next_out = room;
		stream->avail_out = ROOM;
		state = lzma_code(stream, LZMA_FINISH);
		if (stream->avail_out < ROOM)
			code = take(context, room, ROOM - stream->avail_out);
		if (code || state == LZMA_STREAM_END)
			return code;
		if (state != LZMA_OK)
			return state == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
	}
}

int tally_unxz(const uint8_t *bytes, size_t size, tally_inflate_fn take, void *context)
{
	uint8_t *room = malloc(ROOM);
	lzma_stream stream = LZMA_STREAM_INIT;
	int code = -ENOMEM;

	/* Streams may stand one behind another. */
	if (room && lzma_stream_decoder(&stream, DECODER_LIMIT, LZMA_CONCATENATED) == LZMA_OK) {
		stream.next_in = bytes;
		stream.avail_in = size;
		code = expand(&stream, room, take, context);
		lzma_end(&stream);
	}
	free(room);
	return code;
}
