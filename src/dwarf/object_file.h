/* Files that are not linked yet: objects, and modules of the kernel. Their sections have no
 * addresses, and what their debug information says of code is in relocations. */
#ifndef TALLY_DWARF_OBJECT_FILE_H
#define TALLY_DWARF_OBJECT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "elf/elf_file.h"

static inline bool elf_is_object(const struct tally_elf *elf)
{
	return elf->elf && elf->header.e_type == ET_REL;
}

/* Gives the sections that are loaded addresses, one behind another; a file and the file with its
 * debug information, which has the same sections, get the same ones. */
void tally_object_lay_out(struct tally_elf *elf);

/* Whether a section of an object has relocations. */
bool tally_object_is_relocated(const struct tally_elf *elf,
			       const struct tally_elf_section *section);
/* Puts the addresses of an object that was laid out into a copy of a section's bytes. Relocations
 * that are invalid, or of a kind that no debug information has, change nothing. */
void tally_object_relocate(const struct tally_elf *elf, const struct tally_elf_section *section,
			   uint8_t *bytes, size_t size);

#endif
