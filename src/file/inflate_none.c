/* Stands in for inflate.c where libzstd is missing. */
#include "file/inflate.h"

#include <errno.h>

int tally_inflate_new(struct file_inflate **ret)
{
	(void)ret;
	return -ENOTSUP;
}

void tally_inflate_free(struct file_inflate *inflate)
{
	(void)inflate;
}

int tally_inflate_feed(struct file_inflate *inflate, const uint8_t *bytes, size_t size,
		       file_inflate_fn take, void *context)
{
	(void)inflate;
	(void)bytes;
	(void)size;
	(void)take;
	(void)context;
	return -ENOTSUP;
}

const char *tally_inflate_why(const struct file_inflate *inflate)
{
	(void)inflate;
	return "";
}
