/* The text of source lines, from files where debug information says that they are, or where options
 * put them. */
#ifndef TALLY_ANNOTATE_SOURCE_LINES_H
#define TALLY_ANNOTATE_SOURCE_LINES_H

#include "base/buf.h"
#include "resolve/source_files.h"

struct source_lines {
	struct tally_source_files files;
	const char *prefix; /* put before absolute paths; NULL: none */
	unsigned prefix_strip;
	bool none; /* no file of this machine is known to be the recorded program's */
};

/* A line, counted from 1, without its end; borrowed until the next call.  NULL: the file cannot be
 * read, or has no such line. */
const char *tally_source_lines_find(struct source_lines *lines, const char *path, uint32_t line,
				    size_t *ret_length);

/* Appends a line with blanks for tabs, escaped. */
void tally_source_lines_put(struct tally_buf *to, const char *text, size_t length);

#endif
