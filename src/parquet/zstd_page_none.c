#include "parquet/zstd_page.h"

const int tally_parquet_codec = 0;

int tally_parquet_compress(const void *bytes, size_t size, struct tally_buf *to)
{
	tally_buf_add(to, bytes, size);
	return to->failed;
}
