/* Stands in for gunzip.c where zlib is missing. */
#include <errno.h>
#include "tar/gunzip.h"

int tally_gunzip(const uint8_t *bytes, size_t size, tally_inflate_fn take, void *context)
{
	(void)bytes;
	(void)size;
	(void)take;
	(void)context;
	return -ENOTSUP;
}
