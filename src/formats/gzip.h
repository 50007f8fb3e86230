/* gzip: bytes are compressed while they are written. */
#ifndef TALLY_FORMATS_GZIP_H
#define TALLY_FORMATS_GZIP_H

#include <stddef.h>
#include <stdio.h>
#include "base/buf.h"

struct tally_gzip;

/* Appends the bytes of piece number `piece`; on any worker.  0 or -errno. */
typedef int (*tally_gzip_make_fn)(void *context, unsigned worker, size_t piece,
				  struct tally_buf *to);

/* 0, -ENOMEM or -errno of writing. */
int tally_gzip_new(FILE *to, struct tally_gzip **ret);
/* 0, -ENOMEM or -errno of writing. */
int tally_gzip_add(struct tally_gzip *gzip, const void *bytes, size_t size);
/* Adds many pieces, of some 100 KB each, in the order of their numbers; they are made and
 * compressed by `workers` threads.  0, -ENOMEM, -errno of writing, or what `make` returned. */
int tally_gzip_run(struct tally_gzip *gzip, unsigned workers, size_t pieces,
		   tally_gzip_make_fn make, void *context);
/* Writes what is left, and frees it; NULL: nothing. */
int tally_gzip_end(struct tally_gzip *gzip);
/* Frees it without that. */
void tally_gzip_free(struct tally_gzip *gzip);

#endif
