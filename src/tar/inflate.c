#include "tar/inflate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct tally_inflate {
	ZSTD_DCtx *stream;
	uint8_t *room;
	size_t room_size;
	bool broken, open; /* open: more must follow */
	const char *why;
};

int tally_inflate_new(struct tally_inflate **ret)
{
	struct tally_inflate *inflate = calloc(1, sizeof(*inflate));

	if (!inflate)
		return -ENOMEM;
	inflate->room_size = ZSTD_DStreamOutSize();
	inflate->room = malloc(inflate->room_size);
	inflate->stream = ZSTD_createDCtx();
	inflate->why = "";
	if (!inflate->room || !inflate->stream) {
		tally_inflate_free(inflate);
		return -ENOMEM;
	}
	*ret = inflate;
	return 0;
}

void tally_inflate_free(struct tally_inflate *inflate)
{
	if (!inflate)
		return;
	ZSTD_freeDCtx(inflate->stream);
	free(inflate->room);
	free(inflate);
}

int tally_inflate_feed(struct tally_inflate *inflate, const uint8_t *bytes, size_t size,
		       tally_inflate_fn take, void *context)
{
	ZSTD_inBuffer in = {.src = bytes, .size = size};
	bool more = true;

	if (inflate->broken) {
		static const uint8_t magic[4] = {0x28, 0xb5, 0x2f, 0xfd};

		if (size < sizeof(magic) || memcmp(bytes, magic, sizeof(magic)) != 0)
			return -EBADMSG;
		ZSTD_DCtx_reset(inflate->stream, ZSTD_reset_session_only);
		inflate->broken = false;
	}
	while (in.pos < in.size || more) {
		ZSTD_outBuffer out = {.dst = inflate->room, .size = inflate->room_size};
		size_t result = ZSTD_decompressStream(inflate->stream, &out, &in);
		int code = out.pos ? take(context, inflate->room, out.pos) : 0;

		if (code)
			return code;
		if (ZSTD_isError(result)) {
			inflate->broken = true;
			inflate->why = ZSTD_getErrorName(result);
			return -EBADMSG;
		}
		/* If the buffer is full, more may follow; after the end of a stream nothing
		 * does. */
		more = result && out.pos == out.size;
		inflate->open = result != 0;
	}
	return 0;
}

bool tally_inflate_is_whole(const struct tally_inflate *inflate)
{
	return !inflate->open;
}

const char *tally_inflate_why(const struct tally_inflate *inflate)
{
	return inflate->why;
}
