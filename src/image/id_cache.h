/* Writing perf's build-id cache; debug_file.c and others read it. */
#ifndef TALLY_IMAGE_ID_CACHE_H
#define TALLY_IMAGE_ID_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/error.h>

/* Limits unless others are asked for, in bytes. */
#define TALLY_ID_CACHE_FILE_USUAL (256ULL << 20)
#define TALLY_ID_CACHE_ALL_USUAL  (4ULL << 30)

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

/* The same of a file that is open and that the path is the name of.  The descriptor stays the
 * caller's. */
int tally_id_cache_add_open(struct tally_id_cache *cache, int fd, const char *path,
			    const uint8_t *id, uint8_t id_size);

/* What the cache has, sorted by id; `path` is "[kernel.kallsyms]", "[vdso]" or begins with '/'. Not
 * 0 from `visit` ends it and is returned. */
typedef int (*tally_id_cache_visit)(void *context, const char *id, const char *path);
int tally_id_cache_each(const struct tally_id_cache *cache, tally_id_cache_visit visit,
			void *context);

/* Whether there is a copy of the build. */
bool tally_id_cache_has(const struct tally_id_cache *cache, const uint8_t *id, uint8_t id_size);

/* Removes a build by its id in hexadecimal: the link, and the folder that it leads to with the
 * files in it.  1: removed; 0: there was none; -errno. */
int tally_id_cache_remove(struct tally_id_cache *cache, const char *id);

#endif
