/* Lines of source files by number.  The files that were asked for last are kept in memory, up to a
 * bound. */
#ifndef TALLY_RESOLVE_SOURCE_FILES_H
#define TALLY_RESOLVE_SOURCE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_FILES_MOST 64U
#define SOURCE_BYTES_MOST ((size_t)32 << 20) /* of all of them */

struct source_file {
	char *path; /* as debug information has it */
	char *text; /* NULL: it cannot be read */
	size_t size;
	uint32_t *starts; /* of lines, in the text; one more than there are */
	uint32_t count;
};

struct tally_source_files { /* all zero, with `before`, is empty and valid */
	const char *before; /* symfs: in front of each path; NULL or "": nothing */
	struct source_file list[SOURCE_FILES_MOST]; /* the one asked for last comes first */
	size_t count, bytes;
};

/* A line without its end; false: the file cannot be read or is not a regular one, or it has no such
 * line.  *ret is not NUL-terminated, and borrowed until the next call.  For one thread. */
bool tally_source_files_line(struct tally_source_files *files, const char *path, uint32_t line,
			     const char **ret, size_t *ret_length);
void tally_source_files_done(struct tally_source_files *files);

#endif
