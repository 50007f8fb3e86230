/* The file that debug information shares with others (dwz(1), .gnu_debugaltlink). */
#ifndef TALLY_DWARF_LINES_ALT_H
#define TALLY_DWARF_LINES_ALT_H

#include <stdbool.h>
#include <elfutils/libdw.h>
#include "elf/elf_file.h"

struct tally_lines_alt {      /* all zero is closed */
	struct tally_elf elf; /* elf is NULL: a file without anything, in `nothing` */
	char *nothing;
	Dwarf *dwarf;
};

/* Whether a file shares debug information with another one. */
bool tally_lines_alt_named(const struct tally_elf *elf);
/* Finds and opens the other file, which is the caller's to close.  False: it is not found. */
bool tally_lines_alt_find(const struct tally_elf *elf, struct tally_elf *ret);

/* Finds the file, opens it as all are opened, and has libdw use it; else one without anything,
 * because libdw would look for it by itself, and open what the binary names, a FIFO too.  0 or
 * -ENOMEM. */
int tally_lines_alt_open(struct tally_lines_alt *alt, Dwarf *dwarf, const struct tally_elf *elf);
/* After dwarf_end() of who uses it. */
void tally_lines_alt_close(struct tally_lines_alt *alt);

/* Whether what is compressed of a file's debug information expands to no more than is allowed. */
bool tally_lines_fit(const struct tally_elf *elf);

#endif
