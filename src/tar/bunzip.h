/* Decoding of bzip2: the archives of `perf archive`. */
#ifndef TALLY_TAR_BUNZIP_H
#define TALLY_TAR_BUNZIP_H

#include "tar/inflate.h"

/* Gives all that the bytes expand to, piece by piece.  0; what `take` gave; -EBADMSG: damaged, or
 * cut short; -ENOTSUP: built without libbz2; -ENOMEM. */
int tally_bunzip(const uint8_t *bytes, size_t size, tally_inflate_fn take, void *context);

#endif
