/* The file of an archive while it is written: under another name until it is complete. */
#ifndef TALLY_ARCHIVE_ARCHIVE_FILE_H
#define TALLY_ARCHIVE_ARCHIVE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/error.h>
#include "base/whole_file.h"
#include "tar/tar.h"

struct tally_archive_file {
	struct whole_file file;
	struct tally_tar_writer *tar;
};

/* 0 or -errno; `ret` is for tally_archive_file_done() only then. */
int tally_archive_file_open(const char *path, bool replace, uint64_t time,
			    struct tally_archive_file *ret, struct tally_error *error);
/* Writes the end, and gives the file its name. */
int tally_archive_file_finish(struct tally_archive_file *file, uint64_t *ret_bytes,
			      struct tally_error *error);
/* Removes what is not complete. */
void tally_archive_file_done(struct tally_archive_file *file);

#endif
