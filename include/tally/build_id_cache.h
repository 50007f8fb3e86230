/* The build-id cache: copies of binaries by their build-ids, in perf's layout, so that a recording
 * has names after its binaries have changed.  tally and perf read it; `perf archive` packs it.
 *
 * Layout below the folder: PATH/ID/elf (kallsyms of the kernel, vdso), and .build-id/AB/CDEF...,
 * a link to PATH/ID.  Source: what perf 6.1 writes. */
#ifndef TALLY_BUILD_ID_CACHE_H
#define TALLY_BUILD_ID_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include <tally/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_build_id_cache_options {
	size_t size;        /* sizeof of this struct */
	const char *folder; /* NULL: $HOME/.debug */
	bool all;           /* also binaries without samples */
	/* Larger binaries are not kept, and none once the cache holds so much; bytes, 0: 256 MiB
	 * and 4 GiB. */
	uint64_t file_most, cache_most;
};

struct tally_build_id_cache_result {
	size_t size;        /* sizeof of this struct, set by the caller */
	unsigned kept;      /* were put there */
	unsigned there;     /* were there already */
	unsigned changed;   /* are no longer what was recorded, or gone */
	unsigned too_large; /* for either limit */
	unsigned failed;    /* could not be read or written */
};

/* One build that the cache has. */
struct tally_build_id_cache_entry {
	const char *id;   /* in hexadecimal */
	const char *path; /* of the binary that it was copied from; untrusted */
};
/* Not 0: ends the listing, which returns it. */
typedef int (*tally_build_id_cache_visit)(void *context,
					  const struct tally_build_id_cache_entry *entry);

/* Every build in the cache, in the order of the ids.  A cache that is not there is made. */
int tally_build_id_cache_list(const struct tally_build_id_cache_options *options,
			      tally_build_id_cache_visit visit, void *context,
			      struct tally_error *error);

/* Copies a binary into the cache under its full path.  1: it is there now; 0: it was before.
 * -ENOENT: there is no such file; -ENODATA: it has no build-id; -EFBIG: beyond a limit. */
int tally_build_id_cache_add(const struct tally_build_id_cache_options *options, const char *file,
			     struct tally_error *error);

enum tally_build_id_cache_which {
	TALLY_BUILD_ID_CACHE_THIS, /* the build that the file now is */
	TALLY_BUILD_ID_CACHE_PATH, /* all builds that came from its path, which may be gone */
	TALLY_BUILD_ID_CACHE_ALL,  /* the whole cache; `file` is NULL */
};
/* Removes copies.  How many builds are gone, or -errno. */
int tally_build_id_cache_remove(const struct tally_build_id_cache_options *options,
				const char *file, enum tally_build_id_cache_which which,
				struct tally_error *error);

/* The build-ids of a session's recording that the cache has no copy of, in the recording's order.
 */
int tally_build_id_cache_missing(const struct tally_data *data,
				 const struct tally_build_id_cache_options *options,
				 tally_build_id_cache_visit visit, void *context,
				 struct tally_error *error);

/* For each of the recording's build-ids (tally_data_info()), whether the binary has samples;
 * `ret` has room for all. */
int tally_build_id_hits(struct tally_session *session, bool *ret, struct tally_error *error);

/* The running kernel's build-id and, with `modules`, those of its modules, each with where it was
 * loaded; the kernel hides addresses from most users, 0 then. */
struct tally_build_id_loaded {
	const char *id, *name; /* "[kernel.kallsyms]", "[ext4]" */
	uint64_t start, end;
};
typedef int (*tally_build_id_loaded_visit)(void *context,
					   const struct tally_build_id_loaded *loaded);
/* `root` is that of proc and sys; NULL: "/".  0, what `visit` returned, or -errno with words. */
int tally_build_id_running(const char *root, bool modules, tally_build_id_loaded_visit visit,
			   void *context, struct tally_error *error);

/* The build-id of a file, in hexadecimal.  -ENODATA: it has none; -errno. */
int tally_build_id_of_file(const char *file, char ret[41]);

/* Keeps the binaries of a session's recording that have samples, those whose build-id it has;
 * of the kernel its symbols.  Only regular files are taken, whose build-id is the recorded one.
 * A folder that is not there is made; one that belongs to another user, or that others may write,
 * is refused: -EPERM.  0, or -errno with words; a binary that cannot be kept is no error. */
int tally_build_id_cache_keep(struct tally_session *session,
			      const struct tally_build_id_cache_options *options,
			      struct tally_build_id_cache_result *ret, struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
