/* A program and the debug information that describes it, opened together. */
#ifndef TALLY_DWARF_DEBUG_INFO_H
#define TALLY_DWARF_DEBUG_INFO_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <tally/error.h>
#include "elf/elf_file.h"
#include "dwarf/lines_alt.h"

struct debug_info {
	const char *path;       /* of the program; borrowed */
	struct tally_elf elf;   /* the program */
	struct tally_elf other; /* its debug file, when there is one */
	bool has_other;
	struct tally_lines_alt alt;   /* what it shares with other files */
	Dwarf *dwarf;                 /* NULL: there is no debug information */
	Dwarf_CFI *frames, *unloaded; /* .eh_frame, .debug_frame; NULL */
};

/* -errno and -ENOEXEC of the program.  Without debug information it is open, and `dwarf` is
 * NULL. */
int tally_debug_info_open(const char *path, const char *debug_root, struct debug_info *ret,
			  struct tally_error *error);
void tally_debug_info_close(struct debug_info *info);
/* Fails with what is missing, and how to get it. */
int tally_debug_info_missing(const struct debug_info *info, struct tally_error *error);

/* The units of the program's own code, one after another.  `at` starts as 0; false: no more. */
bool tally_debug_info_next(const struct debug_info *info, Dwarf_Off *at, Dwarf_Die *ret);

#endif
