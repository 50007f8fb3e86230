/* An unnamed temporary file for data without a file: a stream, or decoded records.  It needs little
 * memory whatever its size, and is removed when it is closed. */
#ifndef TALLY_FILE_SPOOL_H
#define TALLY_FILE_SPOOL_H

#include <tally/data.h>
#include <tally/error.h>
#include "base/fs.h"

struct file_spool {
	int fd;
	uint8_t *room;           /* bytes that are not written yet */
	size_t held;             /* bytes of it */
	uint64_t size;           /* bytes in all */
	const char *why;         /* of the messages: "a copy of its records" */
	struct tally_mapped map; /* all of it, after tally_spool_finish() */
};

/* In $TMPDIR, else in /var/tmp.  `path` is what messages begin with.  0 or -errno with words. */
int tally_spool_open(const char *path, const char *why, struct file_spool **ret,
		     struct tally_error *error);
int tally_spool_add(struct file_spool *spool, const void *bytes, size_t size);
/* Copies everything from a descriptor until its end, at most `limit` bytes, and reports
 * progress. */
int tally_spool_take(struct file_spool *spool, int fd, uint64_t limit,
		     const struct tally_data_options *options);
/* Maps the contents. Nothing may be added afterwards. */
int tally_spool_finish(struct file_spool *spool);
/* Fills the error for a failure of the last three functions. */
int tally_spool_fail(const struct file_spool *spool, int code, const char *path,
		     struct tally_error *error);
/* Frees the disk space of whole pages, which then read as zeros; does nothing on file systems
 * without holes. */
void tally_spool_drop(const struct file_spool *spool, uint64_t from, uint64_t to);
void tally_spool_close(struct file_spool *spool);

#endif
