/* Writing perf's build-id cache; debug_file.c and others read it. */
#ifndef TALLY_IMAGE_ID_CACHE_H
#define TALLY_IMAGE_ID_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/error.h>

struct tally_id_cache {
	int folder, ids;              /* descriptors of it and of .build-id in it */
	uint64_t file_most, all_most; /* bytes */
	uint64_t used;                /* known once something is added */
	bool counted;
};

/* NULL: $HOME/.debug.  Makes the folder when it is not there.  -EPERM: it belongs to another user
 * or others may write it; -ENOENT: there is no HOME. */
int tally_id_cache_open(struct tally_id_cache *cache, const char *folder,
			struct tally_error *error);
void tally_id_cache_close(struct tally_id_cache *cache);

/* Copies what a path of a recording leads to: a binary, "[kernel.kallsyms]" (the running kernel's
 * symbols) or "[vdso]".  1: kept; 0: there already; -ESTALE: it is of another build; -ENOENT: it is
 * not there, or no regular file; -EFBIG: beyond a limit; -errno. */
int tally_id_cache_add(struct tally_id_cache *cache, const char *path, const uint8_t *id,
		       uint8_t id_size);

#endif
