/* Finds a binary's symbols if they are not in the binary. */
#ifndef TALLY_ELF_DEBUG_FILE_H
#define TALLY_ELF_DEBUG_FILE_H

#include <stdint.h>
#include "base/buf.h"
#include "elf/debug_places.h"
#include "elf/elf_file.h"

struct tally_debug_search {
	const char *symfs;                       /* "" or a prefix */
	const char *debug_root;                  /* /usr/lib/debug */
	const char *cache;                       /* perf's build-id cache, ~/.debug; NULL: none */
	const struct tally_debug_places *places; /* other ones; NULL: none */
	const char *path;                        /* of the binary, as recorded */
	const char *opened;                  /* of the binary, as opened; NULL: it could not be */
	const struct tally_elf *binary;      /* NULL: it could not be opened */
	uint8_t build_id_size, build_id[20]; /* of the binary */
};

/* Opens the first file that has a .symtab and is of the same build: in archives; in the other
 * folders; by .gnu_debuglink beside the binary, in .debug/ and under debug_root; perf's cache;
 * debug_root by path; by build-id; what a client of debuginfod fetched.  0, or -ENOENT. */
int tally_debug_file_open(const struct tally_debug_search *search, struct tally_elf *ret);

/* Opens a copy of the binary itself: of the recording's archive. */
int tally_debug_file_archived(const struct tally_debug_search *search, struct tally_elf *ret);
/* The same of other archives and folders, and of perf's cache.  0, or -ENOENT. */
int tally_debug_file_cached(const struct tally_debug_search *search, struct tally_elf *ret);

/* Opens the debug file of a build that is known by its id alone, with or without a .symtab.  0, or
 * -ENOENT. */
int tally_debug_file_by_id(const struct tally_debug_places *places, const uint8_t *id,
			   uint8_t id_size, struct tally_elf *ret);

/* For messages: where debug files of this build are looked for. */
void tally_debug_file_where(const struct tally_debug_search *search, struct tally_buf *to);

#endif
