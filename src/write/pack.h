/* Records into COMPRESSED records (81): one zstd stream a file, flushed at the end of each, so that
 * what stands in the file can be decoded up to its last one.  pack_none.c stands in without
 * libzstd. Source: the perf.data format as perf 5.2 and later reads it. */
#ifndef TALLY_WRITE_PACK_H
#define TALLY_WRITE_PACK_H

#include <sys/uio.h>
#include "base/buf.h"

/* What a COMPRESSED record holds at most: so much that it fits into one even where nothing can be
 * saved. */
#define FILE_PACK_MOST 65024u

/* The room for one record that readers are asked to make: perf before 6.15 takes no more from it,
 * and what was left of a record before is not counted. */
#define FILE_PACK_ROOM (128u << 10)

/* Where in the feature COMPRESSED the ratio stands. */
#define FILE_PACK_RATIO_AT 12

struct file_pack;

/* level: 1 to 22.  0, -ENOMEM, or -ENOTSUP without libzstd. */
int tally_pack_new(int level, struct file_pack **ret);
void tally_pack_free(struct file_pack *pack);
/* Adds whole records, compressed.  0, -ENOMEM, -EIO. */
int tally_pack_add(struct file_pack *pack, const struct iovec *iov, int count,
		   struct tally_buf *to);

#endif
