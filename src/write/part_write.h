/* The file data.N of a recording that is a folder: records of one writer, without a header.
 *
 * Source: the perf.data format, DIR_FORMAT version 1, as perf 5.17 to 6.1 reads it: the file "data"
 * has header, ids and attrs; records of all files are put in order by time, so none ends a round;
 * each has a zstd stream of its own. */
#ifndef TALLY_WRITE_PART_WRITE_H
#define TALLY_WRITE_PART_WRITE_H

#include <stdint.h>
#include <sys/uio.h>
#include <tally/error.h>

struct tally_part;

/* compress_level: 0, records are not compressed. */
int tally_part_open(const char *folder, unsigned number, int compress_level,
		    struct tally_part **ret, struct tally_error *error);
/* Appends whole records.  After a failure what was whole before stays readable.  0 or -errno with
 * words. */
int tally_part_append(struct tally_part *part, const struct iovec *iov, int count,
		      struct tally_error *error);
uint64_t tally_part_size(const struct tally_part *part); /* bytes of the file */
/* Bytes before and after compression. */
void tally_part_packed(const struct tally_part *part, uint64_t *ret_in, uint64_t *ret_out);
/* 0, or -errno with words: the file system had no room after all.  NULL is fine. */
int tally_part_close(struct tally_part *part, struct tally_error *error);

#endif
