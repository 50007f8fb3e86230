#include "dwarf/dwarf_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dwarf/lines_alt.h"
#include "dwarf/object_file.h"
#include "elf/elf_expand.h"

static const char *const names[DWARF_SECTIONS] = {
    [DWARF_INFO] = "info",         [DWARF_ABBREV] = "abbrev",
    [DWARF_STR] = "str",           [DWARF_LINE] = "line",
    [DWARF_LINE_STR] = "line_str", [DWARF_STR_OFFSETS] = "str_offsets",
    [DWARF_ADDR] = "addr",         [DWARF_RANGES] = "ranges",
    [DWARF_RNGLISTS] = "rnglists", [DWARF_CU_INDEX] = "cu_index",
    [DWARF_LOC] = "loc",           [DWARF_LOCLISTS] = "loclists",
};

/* The section ".debug_NAME", with ".dwo" behind it, or as older tools compress it ".zdebug_NAME".
 */
static const struct tally_elf_section *find(const struct tally_elf *elf, enum dwarf_section which,
					    bool split)
{
	/* The index has no ending, and of a .dwo file nothing else is without one. */
	const char *ending = split && which != DWARF_CU_INDEX ? ".dwo" : "";
	const struct tally_elf_section *section;
	char name[48];

	snprintf(name, sizeof(name), ".debug_%s%s", names[which], ending);
	section = tally_elf_find(elf, name, SHT_NULL);
	if (!section) {
		snprintf(name, sizeof(name), ".zdebug_%s%s", names[which], ending);
		section = tally_elf_find(elf, name, SHT_NULL);
	}
	return section && section->header.sh_type != SHT_NOBITS && section->header.sh_size ? section
											   : NULL;
}

bool tally_dwarf_file_exists(const struct tally_elf *elf)
{
	return find(elf, DWARF_INFO, false) != NULL;
}

static struct dwarf_bytes bytes_of(const struct tally_elf_section *section)
{
	Elf_Data *data;
	GElf_Shdr header;

	/* A section that was expanded before, by libdw or by this, is no longer marked. */
	if (!gelf_getshdr(section->scn, &header))
		return (struct dwarf_bytes){0};
	if (header.sh_flags & SHF_COMPRESSED) {
		if (elf_compress(section->scn, 0, 0) < 0)
			return (struct dwarf_bytes){0};
	} else if (!strncmp(section->name, ".zdebug", 7)) {
		data = elf_rawdata(section->scn, NULL);
		if (data && data->d_buf && data->d_size >= 4 && !memcmp(data->d_buf, "ZLIB", 4) &&
		    elf_compress_gnu(section->scn, 0, 0) < 0)
			return (struct dwarf_bytes){0};
	}
	data = elf_getdata(section->scn, NULL);
	return data && data->d_buf ? (struct dwarf_bytes){data->d_buf, data->d_size}
				   : (struct dwarf_bytes){0};
}

/* The addresses in an object's debug information are put into a copy of it. */
static int relocate(struct dwarf_file *file, enum dwarf_section which, const struct tally_elf *elf,
		    const struct tally_elf_section *section, uint64_t *left)
{
	struct dwarf_bytes *bytes = &file->sections[which];
	uint8_t *copy = file->own[which];

	if (!bytes->data || !tally_object_is_relocated(elf, section))
		return 0;
	if (!copy) {
		if (bytes->size > *left)
			return -EFBIG;
		*left -= bytes->size;
		copy = malloc(bytes->size);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, bytes->data, bytes->size);
		file->own[which] = copy;
		bytes->data = copy;
	}
	tally_object_relocate(elf, section, copy, bytes->size);
	return 0;
}

static int read_section(struct dwarf_file *file, enum dwarf_section which,
			const struct tally_elf *elf, bool split, uint64_t *left)
{
	const struct tally_elf_section *section = find(elf, which, split);
	int error;

	if (!section)
		return 0;
	error = tally_elf_expand(elf, section, &file->own[which], &file->sections[which].size);
	if (!error)
		file->sections[which].data = file->own[which];
	else if (error == -ENOTSUP)
		file->sections[which] = bytes_of(section);
	return elf_is_object(elf) ? relocate(file, which, elf, section, left) : 0;
}

int tally_dwarf_file_read(struct dwarf_file *file, const struct tally_elf *elf, bool split)
{
	const uint16_t one = 1;
	bool little = *(const uint8_t *)&one == 1;
	uint64_t left = elf->allowed;
	int error = 0;

	*file =
	    (struct dwarf_file){.swap = (elf->header.e_ident[EI_DATA] == ELFDATA2LSB) != little};
	if (!find(elf, DWARF_INFO, split))
		return -ENOENT;
	if (!tally_lines_fit(elf))
		return -EFBIG;
	for (enum dwarf_section i = 0; i < DWARF_LOC && !error; i++)
		error = read_section(file, i, elf, split, &left);
	if (error)
		return error;
	return file->sections[DWARF_INFO].data && file->sections[DWARF_ABBREV].data ? 0 : -ENOENT;
}

int tally_dwarf_file_read_locations(struct dwarf_file *file, const struct tally_elf *elf,
				    bool split)
{
	uint64_t left = elf->allowed;
	int error = 0;

	for (enum dwarf_section i = DWARF_LOC; i < DWARF_SECTIONS && !error; i++)
		error = read_section(file, i, elf, split, &left);
	return error == -ENOMEM ? error : 0;
}

void tally_dwarf_file_done(struct dwarf_file *file)
{
	for (enum dwarf_section i = 0; i < DWARF_SECTIONS; i++)
		free(file->own[i]);
	*file = (struct dwarf_file){.swap = false};
}
