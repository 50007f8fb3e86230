/* The folder of what Tally keeps between runs: "tally" in $XDG_CACHE_HOME, else in $HOME/.cache.
 *
 * Its files can all be made again.  Only the user's own are used, which nobody else can write; a
 * file is written beside its place and renamed, so that several writers and readers never meet half
 * of one.  The time of a file is that of its last use. */
#ifndef TALLY_BASE_CACHE_FOLDER_H
#define TALLY_BASE_CACHE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/fs.h"

/* Names of files are shorter. */
#define TALLY_CACHE_NAME_MOST 80
/* All files together, unless the folder's own limit is another. */
#define TALLY_CACHE_LIMIT ((uint64_t)1 << 30)

/* The folder for `given`: NULL: the usual one, if its home is the user's own; "": none.  The
 * caller's to free(), or NULL: none. */
char *tally_cache_folder(const char *given);

/* Maps a file, and marks it as used now.  0; -ENOENT; -EPERM: it, or the folder, is another user's
 * or others can write it; -errno. */
int tally_cache_map(const char *folder, const char *name, struct tally_mapped *ret);

/* The same for one who only looks: it is not marked. */
int tally_cache_peek(const char *folder, const char *name, struct tally_mapped *ret);

/* A file that is being written. */
struct tally_cache_writer {
	int folder, fd;
	char name[TALLY_CACHE_NAME_MOST], part[TALLY_CACHE_NAME_MOST + 32];
	uint64_t at, most; /* bytes so far, and at most */
	int error;
};

/* Creates the folder if it does not exist.  0 or -errno. */
int tally_cache_begin(const char *folder, const char *name, struct tally_cache_writer *ret);
/* Appends bytes at the next offset that 8 divides, which is returned. */
uint64_t tally_cache_put(struct tally_cache_writer *writer, const void *bytes, size_t size);
/* Writes what stands at the start; then puts the file in its place, and removes the files that were
 * not used for the longest time until all are within the limit.  Returns 0 or the first error;
 * after one there is no file. */
int tally_cache_end(struct tally_cache_writer *writer, const void *head, size_t size);

struct tally_cache_entry {
	const char *name; /* borrowed */
	uint64_t size;
	int64_t used; /* seconds since 1970 */
};
/* A result that is not 0 ends the walk. */
typedef int (*tally_cache_visit)(void *context, const struct tally_cache_entry *entry);

/* Visits the user's own files of the folder, by their names; without those that are being written.
 * 0, what `visit` returned, -ENOENT: there is no folder; -EPERM; -errno. */
int tally_cache_each(const char *folder, tally_cache_visit visit, void *context);
/* Removes a file.  0 or -errno. */
int tally_cache_remove(const char *folder, const char *name);

/* The folder's limit in bytes. */
uint64_t tally_cache_limit(const char *folder);
/* Sets it, and removes files as above.  0 or -errno. */
int tally_cache_set_limit(const char *folder, uint64_t limit);

#endif
