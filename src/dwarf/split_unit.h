/* Units whose entries are in a file beside the program: .dwo files, and .dwp files with many of
 * those.  Sources: DWARF 5, 3.1.2 and 7.3.5; for version 4 the DebugFission pages of gcc's wiki. */
#ifndef TALLY_DWARF_SPLIT_UNIT_H
#define TALLY_DWARF_SPLIT_UNIT_H

#include "dwarf/line_program.h"
#include "dwarf/unit_top.h"

/* Opens the .dwp file beside a binary, which is the caller's to close.  0 or -errno. */
int tally_split_package_open(const struct tally_elf *binary, struct tally_elf *ret);

struct split_unit {
	struct tally_elf elf; /* of a .dwo file; elf is NULL: of the package */
	struct dwarf_file file;
	struct dwarf_unit unit;
};

/* Finds the unit of a skeleton and makes it one whose addresses are the program's.  `ret` is to be
 * closed, and not to be moved until then.  0; -ENOENT. */
int tally_split_unit_open(const struct line_program *program, const struct dwarf_unit *skeleton,
			  const struct unit_top *top, struct split_unit *ret);
void tally_split_unit_close(struct split_unit *split);

#endif
