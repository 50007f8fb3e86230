/* Makes the block of struct unit_lines of a unit. */
#ifndef TALLY_DWARF_UNIT_LINES_BUILD_H
#define TALLY_DWARF_UNIT_LINES_BUILD_H

#include "dwarf/line_program.h"

/* Reads the unit whose head is at `offset`, with `allowed` bytes of memory.  *ret is the caller's
 * to free().  0; -ENOENT: it has no lines, or is damaged; -EFBIG; -ENOMEM. */
int tally_unit_lines_build(struct line_program *program, uint64_t offset, uint64_t allowed,
			   void **ret, size_t *ret_size);

#endif
