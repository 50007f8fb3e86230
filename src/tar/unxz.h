/* Decoding of xz. */
#ifndef TALLY_TAR_UNXZ_H
#define TALLY_TAR_UNXZ_H

#include "tar/inflate.h"

/* As tally_bunzip(); -ENOTSUP: built without liblzma. */
int tally_unxz(const uint8_t *bytes, size_t size, tally_inflate_fn take, void *context);

#endif
