/* Where a variable is, by ranges of code.  Sources: DWARF 4, 2.6.2; DWARF 5, 2.6.2 and 7.29. */
#ifndef TALLY_DWARF_DWARF_LOCATIONS_H
#define TALLY_DWARF_DWARF_LOCATIONS_H

#include "dwarf/dwarf_unit.h"

/* Visits the expressions of a location and the code that each is for, [low, high); one that is for
 * all code of its entry has 0 and UINT64_MAX.  What the list has besides is visited with an empty
 * range, `low` twice and no bytes, so that the caller's budget counts it.  0, -EBADMSG, or what
 * `visit` returned that was not 0. */
typedef int (*dwarf_location_fn)(void *context, uint64_t low, uint64_t high,
				 struct dwarf_bytes expression);
int tally_dwarf_locations(const struct dwarf_unit *unit, const struct dwarf_value *value,
			  dwarf_location_fn visit, void *context);

#endif
