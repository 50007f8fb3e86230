/* gzip: bytes are compressed while they are written. */
#ifndef TALLY_FORMATS_GZIP_H
#define TALLY_FORMATS_GZIP_H

#include <stddef.h>
#include <stdio.h>

struct tally_gzip;

/* 0 or -ENOMEM. */
int tally_gzip_new(FILE *to, struct tally_gzip **ret);
/* 0 or -errno of writing. */
int tally_gzip_add(struct tally_gzip *gzip, const void *bytes, size_t size);
/* Writes what is left, and frees it; NULL: nothing. */
int tally_gzip_end(struct tally_gzip *gzip);
/* Frees it without that. */
void tally_gzip_free(struct tally_gzip *gzip);

#endif
