/* The lines and functions of one unit by address, as a block of bytes: made from debug information,
 * kept on disk, and searched in place.
 *
 * Layout: the head, then arrays of u32 in this machine's byte order, in the order of struct
 * unit_lines.  Addresses count from the base of the index. */
#ifndef TALLY_DWARF_UNIT_LINES_H
#define TALLY_DWARF_UNIT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unit_lines_head {
	uint32_t rows, spans, functions, files, text_size, zero;
};

#define UNIT_LINES_NONE UINT32_MAX /* of a file: none; code ends here */

enum unit_lines_flag {
	UNIT_LINES_INLINED = 1,
	UNIT_LINES_LINKAGE = 2, /* the name is the linker's */
	UNIT_LINES_SYMBOL = 4,  /* it is that of the only symbol of its code */
};

struct unit_lines_function {
	uint32_t name;      /* where in the text, + 1; 0: it has none */
	uint32_t caller;    /* inlined: number of the function around it, + 1; 0: none */
	uint32_t call_file; /* inlined: where it is called; UNIT_LINES_NONE: unknown */
	uint32_t call_line;
	uint32_t flags; /* enum unit_lines_flag */
};

struct unit_lines { /* points into the block */
	uint32_t row_count, span_count, function_count, file_count, text_size;
	const uint32_t *row_starts, *row_files, *row_lines;
	const uint32_t *span_starts, *span_functions; /* number of the innermost, + 1; 0: none */
	const struct unit_lines_function *functions;
	const uint32_t *files; /* where in the text */
	const char *text;      /* strings */
};

/* Checks a block, which is 4-aligned and hostile: everything in it is then within its bounds, and a
 * function's caller stands before it.  0 or -EBADMSG. */
int tally_unit_lines_take(const void *bytes, size_t size, struct unit_lines *ret);

struct unit_lines_found {
	const char *file; /* NULL: unknown */
	uint32_t line;
	const struct unit_lines_function *function; /* innermost, or NULL */
};
/* False: the unit does not know the address. */
bool tally_unit_lines_find(const struct unit_lines *lines, uint32_t address,
			   struct unit_lines_found *ret);

/* Borrowed from the block; NULL: none. */
static inline const char *unit_lines_name(const struct unit_lines *lines,
					  const struct unit_lines_function *function)
{
	return function->name ? lines->text + function->name - 1 : NULL;
}

static inline const char *unit_lines_call_file(const struct unit_lines *lines,
					       const struct unit_lines_function *function)
{
	return function->call_file == UNIT_LINES_NONE
		   ? NULL
		   : lines->text + lines->files[function->call_file];
}

/* The function that an inlined one is in; NULL: none. */
static inline const struct unit_lines_function *
unit_lines_caller(const struct unit_lines *lines, const struct unit_lines_function *function)
{
	return function->flags & UNIT_LINES_INLINED && function->caller
		   ? &lines->functions[function->caller - 1]
		   : NULL;
}

#endif
