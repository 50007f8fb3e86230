/* A recording in several files: their names, and which are kept. */
#ifndef TALLY_WRITE_FILE_SERIES_H
#define TALLY_WRITE_FILE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/error.h>

struct tally_file_series {
	const char *path; /* of the file that is written, borrowed */
	size_t keep;      /* newest files that stay; 0: all */
	char **names;     /* that stay now, oldest first */
	size_t count, room;
};

/* -ENODEV with words: the path is a device or a pipe, which must not be renamed. */
int tally_file_series_check(const struct tally_file_series *series, struct tally_error *error);
/* Renames the complete file to PATH.TIME, the local time in hundredths of a second as in perf
 * (perf.data.2026112306254512), and removes the oldest of its files when there are too many. *ret:
 * the new name, borrowed until the file is removed. 0 or -errno with words. */
int tally_file_series_add(struct tally_file_series *series, const char **ret,
			  struct tally_error *error);
void tally_file_series_done(struct tally_file_series *series);

#endif
