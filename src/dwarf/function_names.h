/* Names of functions whose entry refers to another one for it: the function that was inlined, or
 * its declaration, maybe of another unit or file. */
#ifndef TALLY_DWARF_FUNCTION_NAMES_H
#define TALLY_DWARF_FUNCTION_NAMES_H

#include "base/map.h"
#include "dwarf/unit_functions.h"

#define NAME_UNITS 32 /* units that names were looked for in last */

struct name_unit {
	bool used, alternate;
	struct dwarf_unit unit;
	struct abbreviations abbreviations;
	bool names_are_linkage;
};

struct function_name {
	const char *text; /* NULL: unknown */
	bool linkage;     /* it is the one in the object file: */
	bool is_linkers;  /* as DW_AT_linkage_name has it, not by the language */
};

struct function_names {
	const struct line_program *program;
	const struct dwarf_unit *unit;
	const struct abbreviations *abbreviations;
	bool names_are_linkage; /* of the unit */
	struct tally_budget *budget;
	struct name_unit units[NAME_UNITS];
	struct tally_map known; /* reference -> number + 1 in `list` */
	struct function_name *list;
	size_t count, room;
};

/* The name of a function of the unit. */
struct function_name tally_function_names_find(struct function_names *names,
					       const struct unit_function *function);
void tally_function_names_done(struct function_names *names);

#endif
