/* The functions of one unit, inlined ones too, with the ranges of their code.
 *
 * Functions and their names are chosen as binutils 2.40 does for addr2line -f -i: the smallest
 * range that holds the address is its function; a name that linkers use goes before one that people
 * use. */
#ifndef TALLY_DWARF_UNIT_FUNCTIONS_H
#define TALLY_DWARF_UNIT_FUNCTIONS_H

#include "dwarf/abbreviations.h"
#include "dwarf/line_program.h"
#include "dwarf/lines_spans.h"
#include "elf/budget.h"

struct unit_function {
	const char *name;   /* NULL: has none of its own */
	uint64_t refers;    /* to the entry that it is an instance, or the definition, of */
	uint64_t low, high; /* of its first range; both 0: it has none */
	uint32_t call_file, call_line;
	uint32_t caller;      /* inlined: number of the function around it, + 1; 0: none */
	uint8_t refers_class; /* enum dwarf_class */
	bool inlined, linkage, has_call_file;
	bool scattered; /* it has several ranges */
};

struct unit_functions { /* all zero is empty and valid */
	struct unit_function *list;
	size_t count, room;
	struct tally_spans spans; /* their ranges, in no order */
};

/* Reads all of a unit.  0,
 * -EFBIG when the budget is spent, -ENOMEM; `ret` is to be done at any result. */
int tally_unit_functions_read(const struct dwarf_unit *unit,
			      const struct abbreviations *abbreviations,
			      const struct dwarf_file *alternate, struct tally_budget *budget,
			      struct unit_functions *ret);
void tally_unit_functions_done(struct unit_functions *functions);

/* Whether names in a language are those in the object file.  Source: DWARF 5, 7.12, for the
 * numbers; binutils for the choice. */
bool tally_unit_names_are_linkage(uint64_t language);

#endif
