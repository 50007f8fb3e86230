/* Debug information of one file, through libdw: units found by address, and of those that are
 * asked for an index of their functions, inlined ones too.
 *
 * What is found, and how, is what binutils 2.40 does for addr2line -f -i: the smallest range that
 * holds the address is its function; a name that linkers use goes before one that people use. Not
 * thread safe. */
#ifndef TALLY_DWARF_LINES_DWARF_H
#define TALLY_DWARF_LINES_DWARF_H

#include <stdbool.h>
#include <elfutils/libdw.h>
#include "elf/budget.h"
#include "elf/elf_file.h"
#include "dwarf/lines_alt.h"
#include "dwarf/lines_cost.h"
#include "dwarf/lines_spans.h"

struct tally_line_function {
	Dwarf_Off die;
	uint64_t low;          /* where its first range starts */
	uint32_t caller;       /* inlined: number of the function around it, + 1; 0: none */
	bool inlined;          /* DW_TAG_inlined_subroutine */
	bool read;             /* what follows was read */
	bool linkage;          /* the name is the linker's */
	const char *name;      /* NULL: has none */
	const char *call_file; /* inlined: where it is called; NULL: unknown */
	uint32_t call_line;
};

struct tally_line_unit {
	Dwarf_Off die, end; /* end: of the unit */
	bool read, useless; /* useless: it has no line table, or is damaged */
	Dwarf_Lines *lines;
	size_t line_count;
	Dwarf_Files *files;
	size_t file_count;
	/* The folder of a unit that was compiled with a relative one: addr2line has it before the
	 * names of files that are relative, libdw does not.  NULL: none. */
	const char *folder;
	struct tally_line_function *functions;
	size_t count, room;
	struct tally_spans spans; /* of functions */
};

struct tally_line_units {
	Dwarf *dwarf; /* NULL: there is no debug information */
	struct tally_line_unit *list;
	size_t count, room;
	struct tally_spans spans; /* of units */
	struct tally_lines_alt alt;
	struct tally_lines_sections sections;
	bool foreign; /* of the other byte order */
	struct tally_budget budget;
	uint32_t *unplaced; /* units that do not say where they are */
	size_t unplaced_count, unplaced_room;
};

/* Whether the file has debug information; cheap. */
bool tally_line_units_exist(const struct tally_elf *elf);
/* The file stays open until done.  What is too much for a file of its size is left out, and the
 * budget says so.  0, -ENOENT, -ENOMEM. */
int tally_line_units_open(struct tally_line_units *units, const struct tally_elf *elf);
void tally_line_units_done(struct tally_line_units *units);

struct tally_line_found {
	struct tally_line_unit *unit;
	struct tally_line_function *function; /* innermost, or NULL; its name is read */
	const char *file;                     /* NULL: unknown */
	bool named;                           /* the file, by the unit */
	uint32_t line;
};

/* 0; -ENOENT: no unit knows the address; -ENOMEM. */
int tally_line_units_find(struct tally_line_units *units, uint64_t address,
			  struct tally_line_found *ret);
/* The function that an inlined one is in, its name read; NULL: none. */
struct tally_line_function *tally_line_caller(struct tally_line_units *units,
					      struct tally_line_unit *unit,
					      const struct tally_line_function *function);

/* For the files of this: reads a unit's lines and functions.  0, or -ENOMEM. */
int tally_line_unit_read(struct tally_line_units *units, struct tally_line_unit *unit);
/* Reads the name of a function and where it is called. */
void tally_line_function_read(Dwarf *dwarf, const struct tally_line_unit *unit,
			      struct tally_line_function *function);

#endif
