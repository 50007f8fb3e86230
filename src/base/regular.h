/* Files whose names come from a recording or a binary: whoever wrote those may name anything. */
#ifndef TALLY_BASE_REGULAR_H
#define TALLY_BASE_REGULAR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Opens a regular file for reading.  It never waits, and opens no device, FIFO or socket, for these
 * act or wait when they are opened; nor a file of procfs, sysfs, tracefs and their like, which are
 * no binaries and may be another process's memory.  A descriptor, and what fstat() says of it when
 * `ret` is not NULL; -ENODEV for what may not be opened; -errno. */
int tally_regular_open(const char *path, struct stat *ret);

/* Reads such a file to its end, at most `limit` bytes (-EFBIG beyond), as tally_fs_read() does.
 * `owned`: only when its owner is root or the caller, else -EPERM. */
int tally_regular_read(const char *path, size_t limit, bool owned, char **ret, size_t *ret_size);

/* Whether the owner of a file is root or the caller: what others put there is not trusted. */
bool tally_regular_is_owned(const struct stat *about);

#endif
