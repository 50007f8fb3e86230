/* Stands in for inflate.c where libzstd is missing. */
#include "tar/inflate.h"

#include <errno.h>

int tally_inflate_new(struct tally_inflate **ret)
{
	(void)ret;
	return -ENOTSUP;
}

void tally_inflate_free(struct tally_inflate *inflate)
{
	(void)inflate;
}

int tally_inflate_feed(struct tally_inflate *inflate, const uint8_t *bytes, size_t size,
		       tally_inflate_fn take, void *context)
{
	(void)inflate;
	(void)bytes;
	(void)size;
	(void)take;
	(void)context;
	return -ENOTSUP;
}

const char *tally_inflate_why(const struct tally_inflate *inflate)
{
	(void)inflate;
	return "";
}

bool tally_inflate_is_whole(const struct tally_inflate *inflate)
{
	(void)inflate;
	return true;
}
