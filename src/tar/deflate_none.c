/* Stands in for deflate.c where libzstd is missing. */
#include <errno.h>
#include "tar/deflate.h"

int tally_deflate_new(int fd, struct tally_deflate **ret)
{
	(void)fd;
	(void)ret;
	return -ENOTSUP;
}

void tally_deflate_free(struct tally_deflate *deflate)
{
	(void)deflate;
}

int tally_deflate_add(struct tally_deflate *deflate, const void *bytes, size_t size, bool end)
{
	(void)deflate;
	(void)bytes;
	(void)size;
	(void)end;
	return -ENOTSUP;
}
