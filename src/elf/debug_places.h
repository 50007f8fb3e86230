/* Where binaries and their debug files are looked for beside the places that every system has. */
#ifndef TALLY_ELF_DEBUG_PLACES_H
#define TALLY_ELF_DEBUG_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "tar/tar.h"

/* Borrowed by all that look there. */
struct tally_debug_places {
	const struct tally_tar *recording;       /* the archive that the recording is in; or NULL */
	const struct tally_tar *const *archives; /* other ones */
	size_t archive_count;
	/* Folders laid out as /usr/lib/debug or as perf's cache of binaries. */
	const char *const *folders;
	size_t folder_count;
	const char *fetched; /* what a client of debuginfod fetched: ID/debuginfo, ID/executable */
};

/* How an archive names a file that belongs to an image: by its build-id, or, when that is unknown
 * (size 0), by its path.  `leaf` is what it is: "elf", "debug", "kallsyms", "vdso". */
void tally_archive_name(const char *path, const uint8_t *id, uint8_t id_size, const char *leaf,
			struct tally_buf *to);

/* The member of that name, of the recording's archive and then of the others; NULL: none has it. */
const struct tally_tar_member *tally_archive_find(const struct tally_debug_places *places,
						  const char *path, const uint8_t *id,
						  uint8_t id_size, const char *leaf);

/* All bytes of a member that is at most `limit` bytes long, with a NUL behind; the caller's to
 * free().  0, -EFBIG, -EBADMSG, -ENOMEM. */
int tally_archive_read(const struct tally_tar_member *member, size_t limit, char **ret,
		       size_t *ret_size);

#endif
