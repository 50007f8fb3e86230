/* Compressing a file with zstd while it is written. */
#ifndef TALLY_TAR_DEFLATE_H
#define TALLY_TAR_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>

struct tally_deflate;

/* -ENOTSUP: built without libzstd; -ENOMEM.  The descriptor stays the caller's. */
int tally_deflate_new(int fd, struct tally_deflate **ret);
void tally_deflate_free(struct tally_deflate *deflate);
/* Writes what the bytes are compressed to; `end`: they are the last.  0 or -errno. */
int tally_deflate_add(struct tally_deflate *deflate, const void *bytes, size_t size, bool end);

#endif
