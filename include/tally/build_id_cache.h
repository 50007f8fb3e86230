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
	unsigned kept;      /* were put there */
	unsigned there;     /* were there already */
	unsigned changed;   /* are no longer what was recorded, or gone */
	unsigned too_large; /* for either limit */
	unsigned failed;    /* could not be read or written */
};

/* Keeps the binaries of a session's recording that have samples, those whose build-id it tells;
 * of the kernel its symbols.  Only regular files are taken, whose build-id is the recorded one.
 * A folder that is not there is made; one that belongs to another user, or that others may write,
 * is refused: -EPERM.  0, or -errno with words; a binary that cannot be kept is no error. */
int tally_build_id_cache_keep(struct tally_session *session,
			      const struct tally_build_id_cache_options *options,
			      struct tally_build_id_cache_result *ret, struct tally_error *error);

#pragma GCC visibility pop

#endif
