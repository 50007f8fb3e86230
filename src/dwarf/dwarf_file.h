/* The sections of a file's debug information, compressed ones expanded. */
#ifndef TALLY_DWARF_DWARF_FILE_H
#define TALLY_DWARF_DWARF_FILE_H

#include "dwarf/dwarf_cursor.h"
#include "elf/elf_file.h"

enum dwarf_section {
	DWARF_INFO,
	DWARF_ABBREV,
	DWARF_STR,
	DWARF_LINE,
	DWARF_LINE_STR,
	DWARF_STR_OFFSETS,
	DWARF_ADDR,
	DWARF_RANGES,
	DWARF_RNGLISTS,
	DWARF_CU_INDEX,
	DWARF_LOC, /* from here on: tally_dwarf_file_read_locations() */
	DWARF_LOCLISTS,
	DWARF_SECTIONS,
};

struct dwarf_file {
	struct dwarf_bytes sections[DWARF_SECTIONS]; /* borrowed from the ELF file, or from `own` */
	void *own[DWARF_SECTIONS]; /* sections that were expanded or relocated here */
	bool swap;
};

/* Whether the file has debug information; cheap. */
bool tally_dwarf_file_exists(const struct tally_elf *elf);
/* `split`: the sections of .dwo and .dwp files, whose names end in ".dwo".  The file stays open as
 * long as this is used.  0; -ENOENT: it has none; -EFBIG: what is compressed expands to more than
 * is allowed, or copies would be more; -ENOMEM. An object was laid out before.  `file` is for
 * tally_dwarf_file_done() in any case. */
int tally_dwarf_file_read(struct dwarf_file *file, const struct tally_elf *elf, bool split);
void tally_dwarf_file_done(struct dwarf_file *file);
/* Where variables are, which is much, and which lines and functions do not need.  What is missing
 * or too much stays empty.  0 or -ENOMEM. */
int tally_dwarf_file_read_locations(struct dwarf_file *file, const struct tally_elf *elf,
				    bool split);

static inline struct dwarf_cursor dwarf_cursor_of(const struct dwarf_file *file,
						  enum dwarf_section section, uint64_t offset)
{
	return cursor_at(file->sections[section], offset, file->swap);
}

#endif
