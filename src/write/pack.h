/* Records into COMPRESSED records (81): one zstd stream for each file, flushed at the end of each
 * record, so that the file can always be decoded up to its last record. pack_none.c replaces it
 * without libzstd.  Source: the perf.data format as perf 5.2 and later reads it. */
#ifndef TALLY_WRITE_PACK_H
#define TALLY_WRITE_PACK_H

#include <sys/uio.h>
#include "base/buf.h"

/* The most bytes that are compressed into one record: they fit even if they cannot be
 * compressed. */
#define FILE_PACK_MOST 65024u

/* The buffer for one record that readers need: perf before 6.15 decodes no more than this from one,
 * not counting the rest of an earlier record. */
#define FILE_PACK_ROOM (128u << 10)

/* The offset of the ratio in the feature COMPRESSED. */
#define FILE_PACK_RATIO_AT 12

struct file_pack;

/* level: 1 to 22.  0, -ENOMEM, or -ENOTSUP without libzstd. */
int tally_pack_new(int level, struct file_pack **ret);
void tally_pack_free(struct file_pack *pack);
/* Adds whole records, compressed.  0, -ENOMEM, -EIO. */
int tally_pack_add(struct file_pack *pack, const struct iovec *iov, int count,
		   struct tally_buf *to);

#endif
