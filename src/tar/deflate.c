#include "tar/deflate.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>
#include "base/fs.h"

struct tally_deflate {
	ZSTD_CCtx *stream;
	int fd;
	size_t room;
	char bytes[];
};

int tally_deflate_new(int fd, struct tally_deflate **ret)
{
	size_t room = ZSTD_CStreamOutSize();
	struct tally_deflate *deflate = malloc(sizeof(*deflate) + room);

	if (!deflate)
		return -ENOMEM;
	deflate->fd = fd;
	deflate->room = room;
	deflate->stream = ZSTD_createCCtx();
	if (!deflate->stream ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(deflate->stream, ZSTD_c_checksumFlag, 1))) {
		tally_deflate_free(deflate);
		return -ENOMEM;
	}
	*ret = deflate;
	return 0;
}

void tally_deflate_free(struct tally_deflate *deflate)
{
	if (!deflate)
		return;
	ZSTD_freeCCtx(deflate->stream);
	free(deflate);
}

int tally_deflate_add(struct tally_deflate *deflate, const void *bytes, size_t size, bool end)
{
	ZSTD_inBuffer in = {.src = bytes, .size = size};

	for (;;) {
		ZSTD_outBuffer out = {.dst = deflate->bytes, .size = deflate->room};
		size_t left = ZSTD_compressStream2(deflate->stream, &out, &in,
						   end ? ZSTD_e_end : ZSTD_e_continue);
		int code = ZSTD_isError(left)
			       ? -EIO
			       : tally_fs_write(deflate->fd, deflate->bytes, out.pos);

		if (code || (end ? !left : in.pos == in.size))
			return code;
	}
}
