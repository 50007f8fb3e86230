/* The file of the cache that keeps an index: "lines-" and the build-id.
 *
 * Layout: a head, then arrays at offsets that 8 divides, in this machine's byte order; then the
 * blocks of units.  The head has a hash of itself and of the arrays, and each unit one of its
 * block, so that a damaged file is noticed; what is read is checked nonetheless, since a hash can
 * be made to fit. */
#ifndef TALLY_DWARF_LINE_INDEX_FILE_H
#define TALLY_DWARF_LINE_INDEX_FILE_H

#include "dwarf/line_index.h"

#define LINE_INDEX_PREFIX "lines-"

/* Maps the file of the index's options and takes its tables.  0; -ENOENT; -EBADMSG: it is damaged,
 * or of another version or program; -EPERM; -ENOMEM. */
int tally_line_index_load(struct line_index *index);
/* The same of bytes, which stay the caller's and must live as long as the index; 8-aligned.  `id`
 * is not compared when its size is 0. */
int tally_line_index_take(struct line_index *index, const uint8_t *bytes, size_t size);
/* Checks a unit's block before its first use.  0 or -EBADMSG. */
int tally_line_index_check(struct line_unit *unit);
/* 0 or -errno. */
int tally_line_index_save(struct line_index *index);

/* What a file is about, for lists. */
struct line_index_about {
	uint8_t id_size, id[20];
	uint32_t units, ready; /* units, and those that have a block */
	char path[256];        /* of the program, cut if it is longer; untrusted */
};
/* Reads a file's head; with `all` everything is checked.  0 or as tally_line_index_load(). */
int tally_line_index_about(const char *folder, const char *name, bool all,
			   struct line_index_about *ret);

/* The name of the file; at most TALLY_CACHE_NAME_MOST bytes. */
void tally_line_index_name(const uint8_t *id, uint8_t id_size, char *ret);

#endif
