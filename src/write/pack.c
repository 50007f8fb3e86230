#include "write/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/record.h>
#include <zstd.h>

/* The most bytes that fit after the header of a record. */
#define BODY_MOST (UINT16_MAX - sizeof(struct perf_event_header))

struct file_pack {
	ZSTD_CCtx *stream;
};

int tally_pack_new(int level, struct file_pack **ret)
{
	struct file_pack *pack = calloc(1, sizeof(*pack));

	if (!pack)
		return -ENOMEM;
	pack->stream = ZSTD_createCCtx();
	if (!pack->stream ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(pack->stream, ZSTD_c_compressionLevel, level))) {
		tally_pack_free(pack);
		return -ENOMEM;
	}
	*ret = pack;
	return 0;
}

void tally_pack_free(struct file_pack *pack)
{
	if (!pack)
		return;
	ZSTD_freeCCtx(pack->stream);
	free(pack);
}

/* A position in the pieces of an iov. */
struct pieces {
	const struct iovec *iov;
	int count;
	size_t inside;
};

/* Compresses as much as fits into one record at `to`; returns the bytes after its header, or 0 on
 * failure. */
static size_t fill(struct file_pack *pack, struct pieces *from, uint8_t *to)
{
	ZSTD_outBuffer out = {.dst = to, .size = BODY_MOST};
	size_t room = FILE_PACK_MOST, left;

	while (from->count && room) {
		size_t size = from->iov->iov_len - from->inside;
		ZSTD_inBuffer in = {.src = (const uint8_t *)from->iov->iov_base + from->inside,
				    .size = size < room ? size : room};

		while (in.pos < in.size)
			if (ZSTD_isError(
				ZSTD_compressStream2(pack->stream, &out, &in, ZSTD_e_continue)) ||
			    (out.pos == out.size && in.pos < in.size))
				return 0;
		room -= in.size;
		from->inside += in.size;
		if (from->inside == from->iov->iov_len) {
			from->iov++;
			from->count--;
			from->inside = 0;
		}
	}
	left = ZSTD_compressStream2(pack->stream, &out, &(ZSTD_inBuffer){.src = to}, ZSTD_e_flush);
	return left ? 0 : out.pos; /* an error is not 0 either */
}

int tally_pack_add(struct file_pack *pack, const struct iovec *iov, int count, struct tally_buf *to)
{
	struct pieces from = {.iov = iov, .count = count};

	while (from.count) {
		struct perf_event_header header = {.type = PERF_RECORD_COMPRESSED};
		size_t size;

		if (!from.iov->iov_len) {
			from.iov++;
			from.count--;
			continue;
		}
		if (tally_buf_reserve(to, UINT16_MAX))
			return -ENOMEM;
		size = fill(pack, &from, to->data + to->size + sizeof(header));
		if (!size)
			return -EIO;
		header.size = (uint16_t)(sizeof(header) + size);
		memcpy(to->data + to->size, &header, sizeof(header));
		to->size += header.size;
	}
	return 0;
}
