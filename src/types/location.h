/* What an expression of DWARF says of where a variable is, for the forms that compilers give to
 * variables that code reaches in one access.  Source: DWARF 5, 2.5 and 7.7. */
#ifndef TALLY_TYPES_LOCATION_H
#define TALLY_TYPES_LOCATION_H

#include "dwarf/dwarf_unit.h"

enum location_kind {
	LOCATION_UNKNOWN,
	LOCATION_REGISTER, /* the value is in `reg`, less `offset` */
	LOCATION_BASED,    /* in memory at `reg` + `offset` */
	LOCATION_FRAME,    /* in memory at the call frame address + `offset` */
	LOCATION_FUNCTION, /* in memory at the function's frame base + `offset` */
	LOCATION_ADDRESS,  /* in memory at `offset` */
	LOCATION_THREAD,   /* in the thread's memory of the program, at `offset` */
};

struct location {
	enum location_kind kind;
	uint8_t reg; /* DWARF's number */
	int64_t offset;
};

struct location tally_location_parse(const struct dwarf_unit *unit, struct dwarf_bytes expression);

#endif
