/* A file without a name for what has no file of its own: a stream, or records that were
 * decoded.  Memory stays small however much it holds, and it is gone when it is closed. */
#ifndef TALLY_FILE_SPOOL_H
#define TALLY_FILE_SPOOL_H

#include <tally/data.h>
#include <tally/error.h>
#include "base/fs.h"

struct file_spool {
	int fd;
	uint8_t *room;           /* what is not written yet */
	size_t held;             /* bytes of it */
	uint64_t size;           /* bytes in all */
	const char *why;         /* of the messages: "a copy of its records" */
	struct tally_mapped map; /* all of it, after tally_spool_finish() */
};

/* In $TMPDIR, else in /var/tmp.  `path` is what messages begin with.  0 or -errno with words. */
int tally_spool_open(const char *path, const char *why, struct file_spool **ret,
		     struct tally_error *error);
int tally_spool_add(struct file_spool *spool, const void *bytes, size_t size);
/* Takes all that a descriptor gives until its end, at most `limit` bytes, and reports progress. */
int tally_spool_take(struct file_spool *spool, int fd, uint64_t limit,
		     const struct tally_data_options *options);
/* Maps what is there.  Nothing may be added afterwards. */
int tally_spool_finish(struct file_spool *spool);
/* The words for a failure of the last three. */
int tally_spool_fail(const struct file_spool *spool, int code, const char *path,
		     struct tally_error *error);
/* Gives the room of whole pages back, which read as zeros then; where files have no holes nothing
 * is done. */
void tally_spool_drop(const struct file_spool *spool, uint64_t from, uint64_t to);
void tally_spool_close(struct file_spool *spool);

#endif
