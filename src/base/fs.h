/* Whole files: small ones of sysfs and procfs read into memory, large ones mapped. */
#ifndef TALLY_BASE_FS_H
#define TALLY_BASE_FS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads a file to its end; -EFBIG if it has more than `limit` bytes.  The result has a NUL after
 * its last byte and is the caller's to free().  Returns 0 or -errno. */
int tally_fs_read(const char *path, size_t limit, char **ret, size_t *ret_size);

/* The same for a descriptor, from its current position; it stays open. */
int tally_fs_read_open(int fd, size_t limit, char **ret, size_t *ret_size);

/* The same for a path made by printf. */
int tally_fs_readf(size_t limit, char **ret, size_t *ret_size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The first number of a one-line file, decimal or 0x; -EINVAL when there is none. */
int tally_fs_read_number(const char *path, int64_t *ret);

/* A file mapped read only.  An empty file maps to {NULL, 0}. */
struct tally_mapped {
	const uint8_t *data;
	size_t size;
};
int tally_fs_map(int fd, struct tally_mapped *ret);
int tally_fs_map_path(const char *path, struct tally_mapped *ret);
void tally_fs_unmap(struct tally_mapped *mapped);

/* Whether this is a regular file that may be run, or, without `runs`, any regular file: 0, -EACCES
 * or the -errno of stat(2). */
int tally_fs_is_file(const char *path, bool runs);

/* The first such file of that name in folders between colons; an empty one is the current folder.
 * Returns 0; -EACCES when there are only files that may not be run; -ENOENT. */
int tally_fs_search(const char *folders, const char *name, bool runs, char ret[PATH_MAX]);

/* A program of that name in $PATH, which is execvp(3)'s default where it is not set. */
int tally_fs_search_program(const char *name, char ret[PATH_MAX]);

/* Makes a folder and those above it.  Only whether the last one is there counts; if it is not, the
 * path ends where the first one failed.  0 or -errno, of that one. */
int tally_fs_make_folders(char *path, mode_t mode);

/* Writes all bytes, also after short writes and EINTR. 0 or -errno. */
int tally_fs_write(int fd, const void *bytes, size_t size);
int tally_fs_write_at(int fd, const void *bytes, size_t size, uint64_t offset);
/* Writes the first `size` bytes of an open file to another one.  0, -errno, or -EIO: it is
 * shorter. */
int tally_fs_copy(int from, uint64_t size, int to);

#endif
