/* The build-id cache: copies of binaries by their build-ids, in perf's layout.
 *
 * With it a report can still print the names of functions after the binaries have changed.  tally
 * and perf read it; `perf archive` packs it.
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
	/* Bytes.  Binaries larger than file_most are not copied; nothing is copied once the cache
	 * is larger than cache_most.  0: 256 MiB and 4 GiB. */
	uint64_t file_most, cache_most;
	/* Binaries that a recorder held open (struct tally_recorder_result): copied when the file
	 * at the recorded path is another one. */
	const struct tally_held_binary *held;
	size_t held_count;
};

struct tally_build_id_cache_result {
	size_t size;        /* sizeof of this struct, set by the caller */
	unsigned kept;      /* binaries that were copied */
	unsigned there;     /* the cache had them already */
	unsigned changed;   /* they are gone, or are not the recorded ones any more */
	unsigned too_large; /* for one of the limits */
	unsigned failed;    /* could not be read or written */
};

/* One build that the cache has. */
struct tally_build_id_cache_entry {
	const char *id;   /* in hexadecimal */
	const char *path; /* of the binary that it was copied from; untrusted */
};
/* A result that is not 0 ends the listing, which returns it. */
typedef int (*tally_build_id_cache_visit)(void *context,
					  const struct tally_build_id_cache_entry *entry);

/* Visits every build in the cache, in the order of the ids.  A cache that does not exist is
 * created. 0, the result of `visit`, or -errno. */
int tally_build_id_cache_list(const struct tally_build_id_cache_options *options,
			      tally_build_id_cache_visit visit, void *context,
			      struct tally_error *error);

/* Copies a binary into the cache under its full path.  1: it was copied; 0: the cache had it.
 * -ENOENT: there is no such file; -ENODATA: it has no build-id; -EFBIG: it is beyond a limit. */
int tally_build_id_cache_add(const struct tally_build_id_cache_options *options, const char *file,
			     struct tally_error *error);

enum tally_build_id_cache_which {
	TALLY_BUILD_ID_CACHE_THIS, /* the build that the file now is */
	TALLY_BUILD_ID_CACHE_PATH, /* all builds that came from its path, which may be gone */
	TALLY_BUILD_ID_CACHE_ALL,  /* the whole cache; `file` is NULL */
};
/* Removes copies.  Returns how many builds were removed, or -errno. */
int tally_build_id_cache_remove(const struct tally_build_id_cache_options *options,
				const char *file, enum tally_build_id_cache_which which,
				struct tally_error *error);

/* Visits the build-ids of a recording that the cache has no copy of, in the recording's order.  0,
 * the result of `visit`, or -errno. */
int tally_build_id_cache_missing(const struct tally_data *data,
				 const struct tally_build_id_cache_options *options,
				 tally_build_id_cache_visit visit, void *context,
				 struct tally_error *error);

/* Visits each binary of a recording that has samples once: those of its table of build-ids
 * (tally_data_info()), in that order, then others in the order in which they were mapped.  The id
 * is that of the table, else that of the mapping, "" where neither has one.  Memory without a file
 * is
 * "/tmp/perf-PID.map", as perf calls it.  0, the result of `visit`, or -errno. */
int tally_build_id_sampled(struct tally_session *session, tally_build_id_cache_visit visit,
			   void *context, struct tally_error *error);

/* The running kernel or one of its modules.  The kernel hides the addresses from most users: they
 * are 0 then. */
struct tally_build_id_loaded {
	const char *id, *name; /* "[kernel.kallsyms]", "[ext4]" */
	uint64_t start, end;
};
typedef int (*tally_build_id_loaded_visit)(void *context,
					   const struct tally_build_id_loaded *loaded);
/* Visits the build-ids of the running kernel and, with `modules`, of its modules.  `root` is the
 * folder that holds proc and sys; NULL: "/".  0, the result of `visit`, or -errno. */
int tally_build_id_running(const char *root, bool modules, tally_build_id_loaded_visit visit,
			   void *context, struct tally_error *error);

/* The build-id of a file, in hexadecimal.  0; -ENODATA: it has none; -errno. */
int tally_build_id_of_file(const char *file, char ret[41]);

/* Copies the binaries of a session's recording that have samples and a recorded build-id; of the
 * kernel its symbols.  Only regular files are copied, and only if they still have that build-id.
 * The cache's folder is created if it does not exist.  A folder that belongs to another user, or
 * that others can write, is refused: -EPERM.  0 or -errno; a binary that cannot be copied is
 * counted in `ret` and is not an error. */
int tally_build_id_cache_keep(struct tally_session *session,
			      const struct tally_build_id_cache_options *options,
			      struct tally_build_id_cache_result *ret, struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
