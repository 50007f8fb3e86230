/* Questions to entries of debug information (DIEs) that libdw leaves to its users.
 *
 * Everything is bounded: entries may be nested, and refer to each other, in any way. */
#ifndef TALLY_DWARF_DIE_H
#define TALLY_DWARF_DIE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* How deep entries are read, and how long a chain of types is. */
#define DIE_DEPTH_MOST 128
#define DIE_TYPES_MOST 64

enum die_next {
	DIE_END,    /* this is it */
	DIE_INSIDE, /* what is in it, then what is behind it */
	DIE_BEHIND, /* skip what is in it */
};
typedef enum die_next (*die_visit)(Dwarf_Die *die, unsigned depth, void *context);

/* Visits what is below an entry, in the order of the file; true: a visit said DIE_END. */
bool tally_die_walk(Dwarf_Die *top, die_visit visit, void *context);

/* By its name or its linkage name, which may be a glob. */
bool tally_die_is_called(Dwarf_Die *die, const char *glob);
/* DW_TAG_subprogram that has code, or that others are inlined instances of. */
bool tally_die_is_function(Dwarf_Die *die);
/* It has code of its own. */
bool tally_die_has_code(Dwarf_Die *die);
/* Its first address; false: it has none. */
bool tally_die_entry(Dwarf_Die *die, Dwarf_Addr *ret);

bool tally_die_number(Dwarf_Die *die, unsigned attribute, Dwarf_Word *ret);
const char *tally_die_text(Dwarf_Die *die, unsigned attribute);
/* Where it is declared; 0 and NULL: unknown. */
int tally_die_line(Dwarf_Die *die);
const char *tally_die_declared_file(Dwarf_Die *die);

/* Of an inlined function: where it was called; 0 and NULL: unknown. */
int tally_die_call_line(Dwarf_Die *die);
const char *tally_die_call_file(Dwarf_Die *die);

/* The type, without const, volatile and the like; `names_too`: and without typedefs. */
bool tally_die_type(Dwarf_Die *die, bool names_too, Dwarf_Die *ret);
bool tally_die_type_is_signed(Dwarf_Die *type);

/* The function of the unit that the address is in, not one that was inlined there. */
bool tally_die_function_at(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die *ret);
/* The outermost inlined function of `function` that the address is in. */
bool tally_die_inlined_at(Dwarf_Die *function, Dwarf_Addr address, Dwarf_Die *ret);

/* Whether a path ends with another; "b/c.c" is the end of "/a/b/c.c". */
bool tally_path_ends(const char *path, const char *end);
/* The unit's name for a file; NULL: it has no such file. */
const char *tally_die_file(Dwarf_Die *unit, const char *end);

#endif
