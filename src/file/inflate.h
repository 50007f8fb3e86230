/* What compressed records hold: one zstd stream a file, cut into records anywhere.
 * Source: the perf.data format (COMPRESSED, COMPRESSED2); RFC 8878. */
#ifndef TALLY_FILE_INFLATE_H
#define TALLY_FILE_INFLATE_H

#include <stddef.h>
#include <stdint.h>

struct file_inflate;

/* Takes a piece of what was decoded; a value other than 0 ends the decoding, which returns it. */
typedef int (*file_inflate_fn)(void *context, const uint8_t *bytes, size_t size);

/* -ENOTSUP: built without libzstd; -ENOMEM. */
int tally_inflate_new(struct file_inflate **ret);
void tally_inflate_free(struct file_inflate *inflate);
/* Decodes the next bytes of the stream.  0, what `take` gave, or -EBADMSG: the bytes are damaged,
 * and so is all that follows, until bytes come that begin a stream anew. */
int tally_inflate_feed(struct file_inflate *inflate, const uint8_t *bytes, size_t size,
		       file_inflate_fn take, void *context);
/* Why the last feed failed, in words. */
const char *tally_inflate_why(const struct file_inflate *inflate);

#endif
