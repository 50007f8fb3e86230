/* Decodes zstd: archives, and compressed records: each file has one stream, which is cut into
 * records anywhere. Source: the perf.data format (COMPRESSED, COMPRESSED2); RFC 8878. */
#ifndef TALLY_TAR_INFLATE_H
#define TALLY_TAR_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_inflate;

/* Takes decoded bytes; a result other than 0 ends the decoding, which returns it. */
typedef int (*tally_inflate_fn)(void *context, const uint8_t *bytes, size_t size);

/* -ENOTSUP: built without libzstd; -ENOMEM. */
int tally_inflate_new(struct tally_inflate **ret);
void tally_inflate_free(struct tally_inflate *inflate);
/* Decodes the next bytes of the stream.  0, the result of `take`, or -EBADMSG: the bytes are
 * damaged, and so are all following ones until a new stream begins. */
int tally_inflate_feed(struct tally_inflate *inflate, const uint8_t *bytes, size_t size,
		       tally_inflate_fn take, void *context);
/* Whether what was fed so far ends where a stream does. */
bool tally_inflate_is_whole(const struct tally_inflate *inflate);
/* Why the last feed failed, in words. */
const char *tally_inflate_why(const struct tally_inflate *inflate);

#endif
