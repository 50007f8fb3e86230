/* The text of source lines, from files where debug information says that they are. */
#ifndef TALLY_ANNOTATE_SOURCE_LINES_H
#define TALLY_ANNOTATE_SOURCE_LINES_H

#include "base/map.h"
#include "base/buf.h"

/* Files that are larger are not read. */
#define SOURCE_FILE_MOST ((size_t)32 << 20)

struct source_file;

struct source_lines {
	const char *symfs;  /* where files are looked for first; "": none */
	const char *prefix; /* put before absolute paths; NULL: none */
	unsigned prefix_strip;
	struct tally_map by_path; /* hash of the path -> struct source_file * */
};

void tally_source_lines_free(struct source_lines *texts);

/* A line, counted from 1, without its end; borrowed until tally_source_lines_free().  NULL: the
 * file cannot be read, or has no such line. */
const char *tally_source_lines_find(struct source_lines *texts, const char *path, uint32_t line,
				    size_t *ret_length);

/* Appends it with blanks for tabs, escaped. */
void tally_source_lines_put(struct tally_buf *to, const char *text, size_t length);

#endif
