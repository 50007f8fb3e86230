#include "dwarf/lines_alt.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "elf/build_id.h"

/* A name, and 20 bytes of a build-id at most. */
#define LINK_MOST (PATH_MAX + 32)

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

static bool is_it(const struct tally_elf *elf, const uint8_t *id, size_t size)
{
	uint8_t found[20], found_size;

	tally_elf_build_id(elf, found, &found_size);
	return found_size && size <= 20 &&
	       tally_build_id_equal(found, found_size, id, (uint8_t)size);
}

static bool try_path(const char *path, const uint8_t *id, size_t size, struct tally_elf *ret)
{
	if (tally_elf_open(path, ret))
		return false;
	if (is_it(ret, id, size) && tally_lines_fit(ret))
		return true;
	tally_elf_close(ret);
	return false;
}

/* A relative name is one beside the file.  Source: dwz(1). */
static bool by_name(const struct tally_elf *elf, const char *name, const uint8_t *id, size_t size,
		    struct tally_elf *ret)
{
	char path[PATH_MAX], link[32], *slash;
	ssize_t length = 0;

	if (strnlen(name, PATH_MAX) == PATH_MAX)
		return false;
	if (name[0] == '/')
		return try_path(name, id, size, ret);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", elf->fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return false;
	path[length] = 0;
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash + 1 - path) + strlen(name) >= sizeof(path))
		return false;
	memcpy(slash + 1, name, strlen(name) + 1);
	return try_path(path, id, size, ret);
}

static const struct tally_elf_section *link_of(const struct tally_elf *elf)
{
	const struct tally_elf_section *section =
	    tally_elf_find(elf, ".gnu_debugaltlink", SHT_PROGBITS);

	return section && section->header.sh_size <= LINK_MOST ? section : NULL;
}

bool tally_lines_alt_named(const struct tally_elf *elf)
{
	return link_of(elf) != NULL;
}

/* The section has the file's name, a NUL, and its build-id. */
bool tally_lines_alt_find(const struct tally_elf *elf, struct tally_elf *ret)
{
	const struct tally_elf_section *section = link_of(elf);
	char path[64 + TALLY_BUILD_ID_TEXT], text[TALLY_BUILD_ID_TEXT], *link;
	size_t size, name;
	bool found = false;

	if (!section || tally_elf_read(elf, section, &link, &size))
		return false;
	name = strlen(link) + 1; /* there is a NUL behind the section */
	if (name < size && size - name >= 2 && size - name <= 20) {
		const uint8_t *id = (const uint8_t *)link + name;

		size -= name;
		tally_build_id_format(id, (uint8_t)size, text);
		snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", text,
			 text + 2);
		found = try_path(path, id, size, ret) || by_name(elf, link, id, size, ret);
	}
	free(link);
	return found;
}

/* For libdw. */
static bool find(struct tally_lines_alt *alt, const struct tally_elf *elf)
{
	if (!tally_lines_alt_find(elf, &alt->elf))
		return false;
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
