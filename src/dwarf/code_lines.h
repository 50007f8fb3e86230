/* Source lines that have code of their own, and where it is. */
#ifndef TALLY_DWARF_CODE_LINES_H
#define TALLY_DWARF_CODE_LINES_H

#include <elfutils/libdw.h>

/* What is not 0 ends the walk. */
typedef int (*code_line_visit)(const char *file, int line, Dwarf_Addr address, void *context);

/* Visits each statement of a unit, or of one function (or inlined instance) without what was
 * inlined into it: the lines of the table, then those that functions are declared and inlined
 * functions are called at, which the table lacks.  Returns what ended it, or 0. */
int tally_code_lines_walk(Dwarf_Die *top, code_line_visit visit, void *context);

/* The line that an address stands for: of a function's entry the one that it is declared at.
 * Returns it, or 0. */
int tally_code_line_at(Dwarf_Die *unit, Dwarf_Addr address, const char **ret_file);

/* Where a function's arguments are in their places, when code was not optimized; `entry` when that
 * is unknown. */
Dwarf_Addr tally_code_behind_prologue(Dwarf_Die *function, Dwarf_Die *unit, Dwarf_Addr entry);

#endif
