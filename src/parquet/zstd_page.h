/* Compressing and expanding a page; zstd_page_none.c stands in without libzstd. */
#ifndef TALLY_PARQUET_ZSTD_PAGE_H
#define TALLY_PARQUET_ZSTD_PAGE_H

#include <stddef.h>
#include "base/buf.h"

/* Parquet's number of the codec. */
extern const int tally_parquet_codec;

/* Appends the compressed bytes; 0, -ENOMEM or -EIO. */
int tally_parquet_compress(const void *bytes, size_t size, struct tally_buf *to);

/* Expands to so many bytes; 0, -EBADMSG, or -ENOTSUP without libzstd. */
int tally_parquet_expand(const void *bytes, size_t size, void *ret, size_t ret_size);

#endif
