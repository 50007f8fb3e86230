/* Stands in for unxz.c where liblzma is missing. */
#include <errno.h>
#include "tar/unxz.h"

int tally_unxz(const uint8_t *bytes, size_t size, tally_inflate_fn take, void *context)
{
	(void)bytes;
	(void)size;
	(void)take;
	(void)context;
	return -ENOTSUP;
}
