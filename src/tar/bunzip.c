#include "tar/bunzip.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <bzlib.h>

#define ROOM 65536U

/* One stream, which ends at `stream->next_in`. */
static int expand(bz_stream *stream, char *room, tally_inflate_fn take, void *context)
{
	for (;;) {
		int state, code;

		stream->next_out = room;
		stream->avail_out = ROOM;
		state = BZ2_bzDecompress(stream);
		code = ROOM - stream->avail_out
			   ? take(context, (const uint8_t *)room, ROOM - stream->avail_out)
			   : 0;
		if (code)
			return code;
		if (state == BZ_STREAM_END)
			return 0;
		/* No more comes in, so that an empty room means that the stream is cut. */
		if (state != BZ_OK || stream->avail_out == ROOM)
			return state == BZ_MEM_ERROR ? -ENOMEM : -EBADMSG;
	}
}

int tally_bunzip(const uint8_t *bytes, size_t size, tally_inflate_fn take, void *context)
{
	char *room = malloc(ROOM);
	int code = room ? 0 : -ENOMEM;

	/* Streams may stand one behind another, as pbzip2 writes them. */
	while (!code && size) {
		unsigned piece = size > UINT_MAX ? UINT_MAX : (unsigned)size;
		bz_stream stream = {.next_in = (char *)(uintptr_t)bytes, .avail_in = piece};

		if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK) {
			code = -ENOMEM;
			break;
		}
		code = expand(&stream, room, take, context);
		bytes += piece - stream.avail_in;
		size -= piece - stream.avail_in;
		BZ2_bzDecompressEnd(&stream);
	}
	free(room);
	return code;
}
