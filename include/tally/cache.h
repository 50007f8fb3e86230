/* What Tally keeps between runs: symbols of the running kernel, and indexes of the source lines and
 * inlined functions of programs.
 *
 * Reports write it and read it; all of it can be made again, so that it may be removed at any time.
 * It is in the folder "tally" in $XDG_CACHE_HOME, else in $HOME/.cache.  Only the user's own files
 * are used, which nobody else can write. */
#ifndef TALLY_CACHE_H
#define TALLY_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* One file of the cache. */
struct tally_cache_file {
	const char *name;  /* in the folder */
	const char *kind;  /* "kernel symbols", "source lines" */
	const char *image; /* path of the program; "" when it is not of one; untrusted */
	const char *id;    /* its build-id in hexadecimal, or "" */
	uint64_t bytes;
	int64_t used; /* when it was used last: seconds since 1970 */
	/* Of an index of source lines: the units that the program was compiled of, and how many of
	 * them were looked at so far; else 0. */
	uint32_t units, ready;
	/* 0; -EBADMSG: it is damaged, or of another version of Tally; -EPERM: others can write it;
	 * -errno. */
	int state;
};
/* The file is borrowed during the call.  A result that is not 0 ends the walk, which returns it. */
typedef int (*tally_cache_file_visit)(void *context, const struct tally_cache_file *file);

/* Visits the files by their names.  `folder`: NULL is the usual one.  With `check` all of each is
 * read and checked.  0, what `visit` returned, or -errno; a folder that does not exist has no
 * files. */
int tally_cache_list(const char *folder, bool check, tally_cache_file_visit visit, void *context,
		     struct tally_error *error);

/* Removes files.  `id`: only those whose build-id starts with it, NULL: any; `unused`: only those
 * that were not used for so many seconds, 0: any.  Returns how many were removed, or -errno. */
int tally_cache_clear(const char *folder, const char *id, uint64_t unused,
		      struct tally_error *error);

/* The most bytes that all files may have together.  0 or -errno. */
int tally_cache_get_limit(const char *folder, uint64_t *ret, struct tally_error *error);
/* Sets it, and removes the files that were not used for the longest time until the others are
 * within it; so does every report that adds a file.  0 or -errno. */
int tally_cache_take_limit(const char *folder, uint64_t limit, struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
