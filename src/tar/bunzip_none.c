/* Stands in for bunzip.c where libbz2 is missing. */
#include <errno.h>
#include "tar/bunzip.h"

int tally_bunzip(const uint8_t *bytes, size_t size, tally_inflate_fn take, void *context)
{
	(void)bytes;
	(void)size;
	(void)take;
	(void)context;
	return -ENOTSUP;
}
