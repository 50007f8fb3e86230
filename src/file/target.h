/* The file that a recording goes to. */
#ifndef TALLY_FILE_TARGET_H
#define TALLY_FILE_TARGET_H

#include <tally/error.h>

/* Creates it empty, for writing and reading back; one that was there and held something becomes
 * NAME.old.  Directories and what is no file are refused; /dev/null is taken. */
int tally_file_target_open(const char *path, int *ret, struct tally_error *error);

#endif
