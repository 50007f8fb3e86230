/* Units of debug information and their entries (DIEs), read where they are.  Sources: DWARF 2 to 5,
 * 7.5; GNU's split DWARF 4 as gcc writes it.
 *
 * libdw serves the few questions of probes; this reads all entries of a unit once, in their order,
 * and on any number of threads at once, which libdw cannot. */
#ifndef TALLY_DWARF_DWARF_UNIT_H
#define TALLY_DWARF_DWARF_UNIT_H

#include "dwarf/dwarf_file.h"

struct dwarf_unit {
	const struct dwarf_file *file;
	uint64_t offset, end, entries; /* in .debug_info: of the unit, and of its first entry */
	uint64_t abbreviations;        /* in .debug_abbrev */
	uint64_t id;                   /* of a split unit and its skeleton */
	uint16_t version;
	uint8_t type; /* DW_UT_*; before version 5 DW_UT_compile */
	uint8_t address_size, offset_size;
	bool split; /* of a .dwo or .dwp file */
	/* What forms of its entries are relative to; of a split unit addresses and (in version 4)
	 * ranges are those of the program. */
	const struct dwarf_file *addresses;
	uint64_t address_base, string_base, list_base, range_base, location_base;
	/* Where the unit's parts of a .dwp file begin, and how long that of strings' offsets is. */
	uint64_t line_part, list_part;
	uint64_t low; /* its ranges are relative to this */
};

/* Reads the head of the unit at *offset, and moves that on to the next one.  0; -ENOENT: there are
 * no more; -EBADMSG: it is of no known kind, and the next one can be asked for. */
int tally_dwarf_unit_next(const struct dwarf_file *file, uint64_t *offset, struct dwarf_unit *ret);

struct abbreviation_field {
	uint16_t name, form;
	int64_t constant; /* DW_FORM_implicit_const */
};

/* A field's value, by the class of its form. */
enum dwarf_class {
	CLASS_NONE,      /* of no interest */
	CLASS_CONSTANT,  /* also flags, and offsets into other sections */
	CLASS_ADDRESS,   /* the address itself */
	CLASS_INDEX,     /* of an address */
	CLASS_LIST,      /* index of a list of ranges */
	CLASS_TEXT,      /* a string */
	CLASS_REFERENCE, /* an entry of the same file, by its offset in .debug_info */
	CLASS_ALTERNATE, /* an entry of the file that is shared with others */
	CLASS_ALT_TEXT,  /* offset of a string in that file */
	CLASS_BLOCK,     /* `number` bytes, such as an expression */
	CLASS_LOCATIONS, /* index of a list of locations */
};

struct dwarf_value {
	enum dwarf_class class;
	uint64_t number;
	const char *text; /* CLASS_TEXT; NULL: it is invalid */
	const uint8_t *block;
};

/* Reads a field's value. */
struct dwarf_value tally_dwarf_value(const struct dwarf_unit *unit, struct dwarf_cursor *cursor,
				     const struct abbreviation_field *field);
/* Bytes of a form's values; -1: they vary; -2: the form is unknown. */
int tally_dwarf_form_size(const struct dwarf_unit *unit, uint64_t form);
/* Moves on behind the value. */
void tally_dwarf_skip(const struct dwarf_unit *unit, struct dwarf_cursor *cursor, uint64_t form);

/* The address that a value is; false: it is none. */
bool tally_dwarf_address(const struct dwarf_unit *unit, const struct dwarf_value *value,
			 uint64_t *ret);
/* Reads the index of an address, and gives that address. */
uint64_t tally_dwarf_indexed(const struct dwarf_unit *unit, struct dwarf_cursor *cursor);

#endif
