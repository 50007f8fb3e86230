/* Decoding of gzip. */
#ifndef TALLY_TAR_GUNZIP_H
#define TALLY_TAR_GUNZIP_H

#include "tar/inflate.h"

/* As tally_bunzip(); -ENOTSUP: built without zlib. */
int tally_gunzip(const uint8_t *bytes, size_t size, tally_inflate_fn take, void *context);

#endif
