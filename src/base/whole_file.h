/* A file that is made under another name and gets its own when it is complete: who looks at it
 * finds all of it, or what was there before. */
#ifndef TALLY_BASE_WHOLE_FILE_H
#define TALLY_BASE_WHOLE_FILE_H

#include <stdio.h>
#include <sys/types.h>
#include <tally/error.h>

enum whole_file_may {
	WHOLE_FILE_REPLACE = 1, /* a regular file of that name */
	WHOLE_FILE_DIRECT = 2,  /* write into devices and pipes, which are never replaced */
};

struct whole_file {
	int fd;           /* to write to; who closes it sets it to -1 */
	char *path;       /* of the complete file, links followed */
	char *incomplete; /* NULL: what is written to has its name already */
	unsigned may;
};

/* Makes PATH.PID.tmp with these rights.  With WHOLE_FILE_DIRECT a device or a pipe is opened
 * itself, and so is the file that standard output goes to.  0; -EEXIST, -EISDIR, -ENODEV: not a
 * regular file; -errno; all with words.  `ret` is for tally_whole_file_drop() only after success.
 */
int tally_whole_file_open(const char *path, unsigned may, mode_t mode, struct whole_file *ret,
			  struct tally_error *error);
/* The descriptor as a stream to write to, which the caller closes.  NULL: out of memory. */
FILE *tally_whole_file_stream(struct whole_file *file);
/* Gives the complete file its name. A file that was made in the meantime is not replaced unasked.
 */
int tally_whole_file_name(struct whole_file *file, struct tally_error *error);
/* Closes the descriptor unless it is -1, and removes a file that did not get its name. */
void tally_whole_file_drop(struct whole_file *file);

#endif
