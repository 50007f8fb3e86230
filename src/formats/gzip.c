#include "formats/gzip.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define OUT_SIZE 65536U
/* Of zlib: a window of 32 KiB, and 16 for the header of gzip. */
#define WINDOW_GZIP (15 + 16)
#define MEMORY      8

struct tally_gzip {
	FILE *to;
	z_stream stream;
	uint8_t out[OUT_SIZE];
};

int tally_gzip_new(FILE *to, struct tally_gzip **ret)
{
	struct tally_gzip *gzip = calloc(1, sizeof(*gzip));

	if (!gzip)
		return -ENOMEM;
	gzip->to = to;
	if (deflateInit2(&gzip->stream, Z_BEST_SPEED, Z_DEFLATED, WINDOW_GZIP, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(gzip);
		return -ENOMEM;
	}
	*ret = gzip;
	return 0;
}

static int run(struct tally_gzip *gzip, int flush)
{
	int state;

	do {
		size_t size;

		gzip->stream.next_out = gzip->out;
		gzip->stream.avail_out = OUT_SIZE;
		state = deflate(&gzip->stream, flush);
		size = OUT_SIZE - gzip->stream.avail_out;
		errno = 0;
		if (fwrite(gzip->out, 1, size, gzip->to) != size)
			return errno ? -errno : -EIO;
	} while (flush == Z_FINISH ? state == Z_OK : !gzip->stream.avail_out);
	return 0;
}

int tally_gzip_add(struct tally_gzip *gzip, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	int result = 0;

	while (size && !result) {
		uInt step = size < (1U << 30) ? (uInt)size : 1U << 30;

		gzip->stream.next_in = (uint8_t *)at;
		gzip->stream.avail_in = step;
		result = run(gzip, Z_NO_FLUSH);
		at += step;
		size -= step;
	}
	return result;
}

int tally_gzip_end(struct tally_gzip *gzip)
{
	int result;

	if (!gzip)
		return 0;
	gzip->stream.avail_in = 0;
	result = run(gzip, Z_FINISH);
	tally_gzip_free(gzip);
	return result;
}

void tally_gzip_free(struct tally_gzip *gzip)
{
	if (!gzip)
		return;
	deflateEnd(&gzip->stream);
	free(gzip);
}
