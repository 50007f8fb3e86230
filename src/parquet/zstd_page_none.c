#include "parquet/zstd_page.h"

#include <errno.h>

const int tally_parquet_codec = 0;

int tally_parquet_compress(const void *bytes, size_t size, struct tally_buf *to)
{
	tally_buf_add(to, bytes, size);
	return to->failed;
}

int tally_parquet_expand(const void *bytes, size_t size, void *ret, size_t ret_size)
{
	(void)bytes;
	(void)size;
	(void)ret;
	(void)ret_size;
	return -ENOTSUP;
}
