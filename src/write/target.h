/* The file that a recording goes to. */
#ifndef TALLY_WRITE_TARGET_H
#define TALLY_WRITE_TARGET_H

#include <stdbool.h>
#include <tally/error.h>

/* Creates it empty, for writing and reading back; an existing file that is not empty becomes
 * NAME.old, and *ret_kept (not NULL) is true.  Directories and special files are refused, except
 * /dev/null. */
int tally_file_target_open(const char *path, int *ret, bool *ret_kept, struct tally_error *error);

/* Removes a file that could not be written; with `kept` the old one is restored. */
void tally_file_target_undo(const char *path, bool kept);

#endif
