/* Files that are compressed as a whole, with zstd, gzip, xz or bzip2: recordings and archives. */
#ifndef TALLY_TAR_EXPAND_H
#define TALLY_TAR_EXPAND_H

#include <stdbool.h>
#include <tally/error.h>
#include "base/fs.h"

/* The command that expands what begins with these bytes; NULL: they are not compressed. */
const char *tally_expand_command(const uint8_t *bytes, size_t size);

/* Expands a file into one without a name, to `most` bytes (0: 64 MB and 100 times its size). `path`
 * is for words; a damaged or cut file gives what is before that.  0; -ENOTSUP: the library is
 * missing; -EFBIG; -errno; all with words. */
int tally_expand(const struct tally_mapped *from, uint64_t most, const char *path, int *ret_fd,
		 bool *ret_damaged, struct tally_error *error);

#endif
