/* Entries of debug information (DIEs) read one by one, wherever they are: of variables, functions
 * and types.  Sources: DWARF 2 to 5.
 *
 * The file is hostile: entries may refer to each other in any way.  So each that is read takes of a
 * budget, which whoever asks a question sets (`steps`).  One thread at a time. */
#ifndef TALLY_TYPES_TYPE_READER_H
#define TALLY_TYPES_TYPE_READER_H

#include "base/arena.h"
#include "base/map.h"
#include "dwarf/abbreviations.h"
#include "dwarf/dwarf_ranges.h"
#include "dwarf/line_program.h"
#include "elf/budget.h"

/* An entry by its offset in .debug_info, + 1; 0: none.  With the highest bit: of the file that is
 * shared with others (dwz(1)). */
typedef uint64_t type_ref;
#define TYPE_REF_ALTERNATE (1ULL << 63)

struct type_reader {
	const struct line_program *program;
	struct tally_map units;     /* offset, * 2 + 1 of the other file -> struct type_unit * */
	struct tally_arena arena;   /* of the units */
	struct tally_budget budget; /* bytes, of all that is kept */
	uint32_t steps;             /* entries that may still be read for this question */
	bool no_memory;
};

struct type_unit {
	struct dwarf_unit unit;
	struct abbreviations abbreviations;
	bool is_valid;
};

/* What is of interest of an entry.  Strings are the file's. */
struct type_entry {
	type_ref self;
	const struct type_unit *unit;
	uint64_t next; /* offset behind it: of its first child, when it has children */
	uint16_t tag;
	bool children, declaration, has_size, has_offset, has_bits;
	const char *name, *linkage_name;
	type_ref type;   /* 0: void, or none */
	type_ref origin; /* that it is an instance or the definition of; of calls, what is called */
	type_ref sibling;
	uint64_t size;               /* bytes */
	uint64_t offset;             /* of a member, bytes */
	uint64_t bits, bit_offset;   /* of a bit-field: its width, and where from the start */
	uint64_t count;              /* elements of a dimension */
	bool has_count;              /* else it is unknown */
	struct dwarf_place place;    /* of code */
	struct dwarf_value location; /* of a variable; of a function its frame base */
	struct dwarf_value returns;  /* of a call: where it returns to */
	struct dwarf_value constant; /* DW_AT_const_value */
};

void tally_type_reader_init(struct type_reader *reader, const struct line_program *program,
			    uint64_t allowed);
void tally_type_reader_done(struct type_reader *reader);

/* False: there is no such entry, it is damaged, or the steps are spent. */
bool tally_type_entry(struct type_reader *reader, type_ref ref, struct type_entry *ret);
/* The first entry within another one, and the next one behind one with all that is in it; false:
 * there are no more. */
bool tally_type_child(struct type_reader *reader, const struct type_entry *entry,
		      struct type_entry *ret);
bool tally_type_sibling(struct type_reader *reader, const struct type_entry *entry,
			struct type_entry *ret);
/* The next entry in the file within the same unit, at another depth perhaps, which *depth follows;
 * false: the unit ends. */
bool tally_type_walk(struct type_reader *reader, const struct type_entry *entry, uint32_t *depth,
		     struct type_entry *ret);
/* The first entry of a unit. */
bool tally_type_unit_top(struct type_reader *reader, uint64_t offset, struct type_entry *ret);

/* What an instance lacks is with its origin: its name and type. */
void tally_type_complete(struct type_reader *reader, struct type_entry *entry);

#endif
