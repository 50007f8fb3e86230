/* The first entry of a unit, which describes the unit. */
#ifndef TALLY_DWARF_UNIT_TOP_H
#define TALLY_DWARF_UNIT_TOP_H

#include "dwarf/abbreviations.h"
#include "dwarf/dwarf_ranges.h"

struct unit_top {
	uint16_t tag;
	struct dwarf_place place;
	bool has_lines;
	uint64_t lines;         /* where its table is in .debug_line */
	const char *folder;     /* DW_AT_comp_dir, or NULL */
	uint64_t language;      /* DW_LANG_*; 0: unknown */
	uint64_t split_ranges;  /* what ranges of that file are relative to, in version 4 */
	const char *split_name; /* of the .dwo file with the unit's entries; NULL: here they are */
};

/* Reads it, and sets in the unit what it says of it.  `alternate`: the file shared with others, or
 * NULL.  0 or -EBADMSG. */
int tally_unit_top_read(struct dwarf_unit *unit, const struct abbreviations *abbreviations,
			const struct dwarf_file *alternate, struct unit_top *ret);

/* A value's string, or NULL. */
const char *tally_dwarf_text(const struct dwarf_value *value, const struct dwarf_file *alternate);

#endif
