/* Where the code of an entry is.  Sources: DWARF 4, 2.17; DWARF 5, 2.17 and 7.25. */
#ifndef TALLY_DWARF_DWARF_RANGES_H
#define TALLY_DWARF_DWARF_RANGES_H

#include "dwarf/dwarf_unit.h"

/* What an entry says of where its code is. */
struct dwarf_place {
	bool has_low, has_high, has_ranges;
	struct dwarf_value low, high, ranges;
};
/* Takes a field, if it is one of these. */
void tally_dwarf_place_take(struct dwarf_place *place, unsigned name,
			    const struct dwarf_value *value);
/* What an empty range takes of a budget in bytes: none of memory, but some nanoseconds. */
#define DWARF_EMPTY_COST 2

/* Visits the ranges of an entry.  What the list has besides is visited as an empty range, `low`
 * twice, so that the caller's budget counts it: many entries may share a long list.  0, -EBADMSG,
 * or what `visit` returned that was not 0. */
typedef int (*dwarf_range_fn)(void *context, uint64_t low, uint64_t high);
int tally_dwarf_ranges(const struct dwarf_unit *unit, const struct dwarf_place *place,
		       dwarf_range_fn visit, void *context);

#endif
