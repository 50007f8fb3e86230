/* Decodes zlib where all bytes are at hand, and how many they become is known.  Source: RFC 1950.
 */
#ifndef TALLY_TAR_INFLATE_ZLIB_H
#define TALLY_TAR_INFLATE_ZLIB_H

#include <stddef.h>
#include <stdint.h>

/* Fills `to`.  0; -ENOTSUP: built without libdeflate; -EBADMSG: damaged, or not of this size;
 * -ENOMEM. */
int tally_inflate_zlib(const uint8_t *from, size_t size, uint8_t *to, size_t to_size);

#endif
