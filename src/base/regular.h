/* Files whose names come from a recording or a binary, which can contain any name. */
#ifndef TALLY_BASE_REGULAR_H
#define TALLY_BASE_REGULAR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Opens a regular file for reading.  It never waits, and opens no device, FIFO or socket, because
 * opening these can have effects or wait; and no file of procfs, sysfs, tracefs and similar file
 * systems, which have no binaries but may have another process's memory.  Returns a descriptor, and
 * the result of fstat() in `ret` unless that is NULL; -ENODEV: the file must not be opened;
 * -errno. */
int tally_regular_open(const char *path, struct stat *ret);

/* Reads such a file to its end, at most `limit` bytes (-EFBIG beyond), as tally_fs_read() does.
 * `owned`: only when its owner is root or the caller, else -EPERM. */
int tally_regular_read(const char *path, size_t limit, bool owned, char **ret, size_t *ret_size);

/* Whether the owner of a file is root or the caller: files of other users are not trusted. */
bool tally_regular_is_owned(const struct stat *about);

#endif
