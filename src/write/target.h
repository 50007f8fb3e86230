/* The file that a recording goes to. */
#ifndef TALLY_WRITE_TARGET_H
#define TALLY_WRITE_TARGET_H

#include <stdbool.h>
#include <tally/error.h>

/* Creates it empty, for writing and reading back; one that was there and held something becomes
 * NAME.old, which *ret_kept (not NULL) says.  Directories and what is no file are refused;
 * /dev/null is taken. */
int tally_file_target_open(const char *path, int *ret, bool *ret_kept, struct tally_error *error);

/* Removes a file that nothing could be written to; with `kept` the old one is restored. */
void tally_file_target_undo(const char *path, bool kept);

#endif
