/* What reading a unit's table of lines would take, found by looking at it first: libdw keeps each
 * row and the whole path of each file, and a few bytes of a table can ask for any number of both.
 */
#ifndef TALLY_DWARF_LINES_COST_H
#define TALLY_DWARF_LINES_COST_H

#include <stdint.h>
#include <stddef.h>

struct tally_lines_text { /* a section; bytes are NULL when there is none */
	const uint8_t *bytes;
	size_t size;
};

struct tally_lines_sections {
	struct tally_lines_text line, line_str, str;
};

/* Bytes that the table at `offset` of .debug_line needs while it is read, and those that stay. 0;
 * -EBADMSG: it is invalid and must not be read.  Source: DWARF 5, 6.2.4. */
int tally_lines_cost(const struct tally_lines_sections *sections, uint64_t offset,
		     unsigned address_size, uint64_t *ret_while, uint64_t *ret_after);

#endif
