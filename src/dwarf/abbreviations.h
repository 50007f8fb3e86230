/* Abbreviations: which fields the entries of a unit have.  Source: DWARF 5, 7.5.3. */
#ifndef TALLY_DWARF_ABBREVIATIONS_H
#define TALLY_DWARF_ABBREVIATIONS_H

#include "dwarf/dwarf_unit.h"

struct abbreviation {
	uint64_t code;
	uint16_t tag;
	bool children;
	bool placed;           /* such an entry may say where its code is */
	uint32_t first, count; /* of the fields */
	uint32_t fixed;        /* bytes of such an entry behind its code, if they are always so
				* many; else UINT32_MAX */
};

struct abbreviations {             /* all zero is empty and valid */
	struct abbreviation *list; /* by code */
	size_t count, room;
	struct abbreviation_field *fields;
	size_t field_count, field_room;
	bool dense; /* the codes are 1, 2, 3 ... */
};

/* Reads a unit's abbreviations, `most` bytes of the section at most; `code`: only until that one is
 * read; 0: all.  *ret_read: so many bytes.  0; -EBADMSG; -EFBIG; -ENOMEM.  `ret` is to be done at
 * any result. */
int tally_abbreviations_read(const struct dwarf_unit *unit, uint64_t code, uint64_t most,
			     struct abbreviations *ret, uint64_t *ret_read);
void tally_abbreviations_done(struct abbreviations *abbreviations);
/* NULL: there is none with that code. */
const struct abbreviation *tally_abbreviation_find(const struct abbreviations *abbreviations,
						   uint64_t code);

#endif
