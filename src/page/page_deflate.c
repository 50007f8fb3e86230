#include "page/page_deflate.h"

#include <errno.h>
#include <zlib.h>

/* 6 is zlib's default level; 9 takes three times as long for a hundredth of the size. */
#define LEVEL 6

void tally_page_deflate(const struct tally_buf *bytes, struct tally_buf *to)
{
	uLongf size = compressBound(bytes->size);

	if (bytes->failed)
		to->failed = bytes->failed;
	if (tally_buf_reserve(to, size))
		return;
	if (compress2(to->data + to->size, &size, bytes->data, bytes->size, LEVEL) == Z_OK)
		to->size += size;
	else
		to->failed = -ENOMEM;
}
