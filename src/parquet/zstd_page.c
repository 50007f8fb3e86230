#include "parquet/zstd_page.h"

#include <errno.h>
#include <zstd.h>

/* Source: parquet.thrift, CompressionCodec. */
const int tally_parquet_codec = 6;

int tally_parquet_compress(const void *bytes, size_t size, struct tally_buf *to)
{
	size_t most = ZSTD_compressBound(size), made;

	if (tally_buf_reserve(to, most))
		return -ENOMEM;
	made = ZSTD_compress(to->data + to->size, most, bytes, size, 3);
	if (ZSTD_isError(made))
		return -EIO;
	to->size += made;
	return 0;
}

int tally_parquet_expand(const void *bytes, size_t size, void *ret, size_t ret_size)
{
	return ZSTD_decompress(ret, ret_size, bytes, size) == ret_size ? 0 : -EBADMSG;
}
