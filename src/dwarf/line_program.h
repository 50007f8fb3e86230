/* A program's debug information, open for reading its symbols, then lines and functions of its
 * units.
 *
 * Once its units are open nothing in it changes, so that any number of threads may read units. */
#ifndef TALLY_DWARF_LINE_PROGRAM_H
#define TALLY_DWARF_LINE_PROGRAM_H

#include <stdatomic.h>
#include "dwarf/dwarf_unit.h"
#include "dwarf/lines_symbols.h"
#include "elf/elf_file.h"

/* The units of a file, in its order. */
struct dwarf_unit_list {
	const struct dwarf_file *file;
	uint64_t *offsets; /* of their heads */
	size_t count, room;
};

struct line_program {
	struct tally_elf binary, debug; /* elf is NULL: there is none */
	const struct tally_elf *symbol_file;
	struct tally_line_symbols symbols;
	bool units_open, locations_open;
	int units_error;
	/* Of the units, when they are open. */
	bool has_units;
	struct dwarf_file file;
	struct dwarf_unit_list units;
	struct tally_elf alternate_elf; /* what it shares with other files (dwz(1)) */
	bool has_alternate;
	struct dwarf_file alternate;
	struct dwarf_unit_list alternate_units;
	struct tally_elf package_elf; /* the .dwp file */
	bool has_package;
	struct dwarf_file package;
	uint64_t base;     /* addresses count from here */
	uint64_t allowed;  /* bytes of memory */
	atomic_bool lacks; /* a file that it refers to was not found */
	bool left_out;     /* something is too much for a file of its size */
};

/* Takes both files, which are closed with it, and reads their symbols.  0 or -ENOMEM: then nothing
 * was taken. */
int tally_line_program_open(struct line_program *program, const struct tally_elf *binary,
			    const struct tally_elf *debug);
/* Lists the units, unless that was done; sections that are compressed are expanded for it.  0 or
 * -ENOMEM. */
int tally_line_program_open_units(struct line_program *program);
/* Where variables are, too, when units are open.  0 or -ENOMEM. */
int tally_line_program_open_locations(struct line_program *program);
void tally_line_program_close(struct line_program *program);

/* Whether code at the address is part of the program; a line_code_fn. */
bool tally_line_program_is_code(const void *program, uint64_t address);

/* The unit that holds an offset of .debug_info; false: none. */
bool tally_dwarf_unit_around(const struct dwarf_unit_list *list, uint64_t offset,
			     struct dwarf_unit *ret);

#endif
