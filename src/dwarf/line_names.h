/* Names of an index as they are shown.  Making them of the linker's names takes longer than all
 * else of a look-up, so they are kept in the index's file, by a hash of the linker's name. */
#ifndef TALLY_DWARF_LINE_NAMES_H
#define TALLY_DWARF_LINE_NAMES_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/map.h"

struct line_name {
	uint64_t hash, at; /* where it is in the text; ends with a NUL */
};

struct line_names {
	/* Of the file, by ascending hash; borrowed and untrusted. */
	const struct line_name *list;
	uint64_t count;
	const char *text;
	uint64_t text_size;

	pthread_mutex_t lock; /* of what was added, below */
	struct tally_buf added, added_text;
	struct tally_map known; /* hashes of these */
};

#define LINE_NAMES_INITIALIZER ((struct line_names){.lock = PTHREAD_MUTEX_INITIALIZER})
void tally_line_names_done(struct line_names *names);

/* 0; -EBADMSG: the text does not end. */
int tally_line_names_take(struct line_names *names, const struct line_name *list, uint64_t count,
			  const char *text, uint64_t text_size);
/* As it was kept in the file, and as long as that; NULL: it was not. */
const char *tally_line_names_find(const struct line_names *names, const char *name);
/* Callable by several threads.  What there is no memory for is left out. */
void tally_line_names_add(struct line_names *names, const char *name, const char *shown);
/* How many were added. */
size_t tally_line_names_added(struct line_names *names);
/* All names for a file: an array of struct line_name, and the text.  0 or -ENOMEM. */
int tally_line_names_join(struct line_names *names, struct tally_buf *list, struct tally_buf *text);

#endif
