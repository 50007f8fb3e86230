/* The folder that a recording of several writers goes to. */
#ifndef TALLY_WRITE_TARGET_FOLDER_H
#define TALLY_WRITE_TARGET_FOLDER_H

#include <stdbool.h>
#include <tally/error.h>

/* Makes it, with the file "data" in it, empty, for writing and reading back.  What has its name, a
 * file or a recording that is a folder, becomes NAME.old, and *ret_kept is true.  0 or -errno with
 * words. */
int tally_file_folder_open(const char *path, int *ret, bool *ret_kept, struct tally_error *error);
/* Removes it after a failure; with `kept` the old one is restored. */
void tally_file_folder_undo(const char *path, bool kept);

/* Whether a path names a recording that is a folder: it has a file "data". */
bool tally_file_folder_is_recording(const char *path);
/* Removes the files of such a recording, and the folder when nothing else is in it.  0 or -errno.
 */
int tally_file_folder_remove(const char *path);

#endif
