#include "dwarf/lines_alt.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "elf/debug_alt.h"
#include "elf/elf_expand.h"

/* An ELF file whose debug information is empty: no reference leads into it. */
struct nothing {
	Elf64_Ehdr head;
	Elf64_Shdr sections[3];
	char names[32];
	char info[8];
};

static int open_nothing(struct tally_lines_alt *alt)
{
	struct nothing *nothing = calloc(1, sizeof(*nothing));
	const uint16_t one = 1;

	if (!nothing)
		return -ENOMEM;
	nothing->head.e_ident[EI_MAG0] = ELFMAG0;
	nothing->head.e_ident[EI_MAG1] = ELFMAG1;
	nothing->head.e_ident[EI_MAG2] = ELFMAG2;
	nothing->head.e_ident[EI_MAG3] = ELFMAG3;
	nothing->head.e_ident[EI_CLASS] = ELFCLASS64;
	nothing->head.e_ident[EI_DATA] = *(const uint8_t *)&one ? ELFDATA2LSB : ELFDATA2MSB;
	nothing->head.e_ident[EI_VERSION] = EV_CURRENT;
	nothing->head.e_version = EV_CURRENT;
	nothing->head.e_type = ET_DYN;
	nothing->head.e_ehsize = sizeof(nothing->head);
	nothing->head.e_shoff = offsetof(struct nothing, sections);
	nothing->head.e_shentsize = sizeof(nothing->sections[0]);
	nothing->head.e_shnum = 3;
	nothing->head.e_shstrndx = 1;
	memcpy(nothing->names, "\0.shstrtab\0.debug_line", 23);
	nothing->sections[1] = (Elf64_Shdr){.sh_name = 1,
					    .sh_type = SHT_STRTAB,
					    .sh_offset = offsetof(struct nothing, names),
					    .sh_size = sizeof(nothing->names)};
	nothing->sections[2] = (Elf64_Shdr){.sh_name = 11,
					    .sh_type = SHT_PROGBITS,
					    .sh_offset = offsetof(struct nothing, info),
					    .sh_size = sizeof(nothing->info)};
	alt->nothing = (char *)nothing;
	return tally_elf_open_memory(alt->nothing, sizeof(*nothing), &alt->elf);
}

bool tally_lines_alt_named(const struct tally_elf *elf)
{
	return tally_debug_alt_named(elf);
}

bool tally_lines_alt_find(const struct tally_elf *elf, struct tally_elf *ret)
{
	if (tally_debug_alt_open(elf, ret))
		return false;
	if (tally_lines_fit(ret))
		return true;
	tally_elf_close(ret);
	return false;
}

/* For libdw. */
static bool find(struct tally_lines_alt *alt, const struct tally_elf *elf)
{
	if (!tally_lines_alt_find(elf, &alt->elf))
		return false;
	if (!tally_elf_expand_file(&alt->elf))
		alt->dwarf = dwarf_begin_elf(alt->elf.elf, DWARF_C_READ, NULL);
	if (!alt->dwarf)
		tally_elf_close(&alt->elf);
	return alt->dwarf != NULL;
}

int tally_lines_alt_open(struct tally_lines_alt *alt, Dwarf *dwarf, const struct tally_elf *elf)
{
	struct tally_lines_alt none = {.elf = {.fd = -1}};
	int error;

	*alt = none;
	if (!find(alt, elf)) {
		error = open_nothing(alt);
		if (!error)
			alt->dwarf = dwarf_begin_elf(alt->elf.elf, DWARF_C_READ, NULL);
		if (!alt->dwarf) {
			tally_lines_alt_close(alt);
			return -ENOMEM;
		}
	}
	/* Its own other file is not followed: that would be this one, or go on. */
	dwarf_setalt(alt->dwarf, alt->dwarf);
	dwarf_setalt(dwarf, alt->dwarf);
	return 0;
}

void tally_lines_alt_close(struct tally_lines_alt *alt)
{
	if (alt->dwarf)
		dwarf_end(alt->dwarf);
	if (alt->elf.elf) /* all zero is valid, and no descriptor 0 */
		tally_elf_close(&alt->elf);
	free(alt->nothing);
	*alt = (struct tally_lines_alt){.elf = {.fd = -1}};
}

bool tally_lines_fit(const struct tally_elf *elf)
{
	uint64_t left = elf->allowed;

	for (size_t i = 1; i < elf->section_count; i++) {
		const struct tally_elf_section *section = &elf->sections[i];
		uint64_t size;

		if (!(section->header.sh_flags & SHF_COMPRESSED) &&
		    strncmp(section->name, ".zdebug", 7) != 0)
			continue;
		size = tally_elf_expanded(section);
		if (size > left)
			return false;
		left -= size;
	}
	return true;
}
