#include "image/code_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "image/image_state.h"

/* Linked binaries have some ten; what a file says beyond is not followed. */
#define SPANS_MOST 256U

static int add_span(struct tally_code_map *map, uint64_t start, uint64_t size, uint32_t stub)
{
	void *grown;

	if (!size || start + size < start || map->span_count == SPANS_MOST)
		return 0;
	grown = reallocarray(map->spans, map->span_count + 1, sizeof(*map->spans));
	if (!grown)
		return -ENOMEM;
	map->spans = grown;
	map->spans[map->span_count++] =
	    (struct tally_code_span){.start = start, .end = start + size, .stub = stub};
	return 0;
}

/* Stubs are 16 bytes where the section does not say, as linkers write them. */
static uint32_t stub_size(const struct tally_elf_section *section)
{
	uint64_t size = section->header.sh_entsize;

	if (strncmp(section->name, ".plt", 4) != 0)
		return 0;
	return size >= 8 && size <= 64 ? (uint32_t)size : 16;
}

static int add_sections(struct tally_code_map *map, const struct tally_elf *elf)
{
	int result = 0;

	for (size_t i = 1; i < elf->section_count && !result; i++) {
		const struct tally_elf_section *section = &elf->sections[i];
		const GElf_Shdr *header = &section->header;

		/* without bytes: of an archive, which left the code out */
		if (section->scn &&
		    (header->sh_type == SHT_PROGBITS || header->sh_type == SHT_NOBITS) &&
		    (header->sh_flags & SHF_EXECINSTR) && (header->sh_flags & SHF_ALLOC))
			result =
			    add_span(map, header->sh_offset, header->sh_size, stub_size(section));
	}
	return result;
}

/* A file whose section headers were cut off has segments still. */
static int add_segments(struct tally_code_map *map, const struct tally_elf *elf)
{
	bool code = !map->span_count;
	size_t count = 0;
	int result = 0;

	if (elf_getphdrnum(elf->elf, &count) || count > INT32_MAX)
		return 0;
	for (size_t i = 0; i < count && !result; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf->elf, (int)i, &header))
			continue;
		if (code && header.p_type == PT_LOAD && (header.p_flags & PF_X))
			result = add_span(map, header.p_offset, header.p_filesz, 0);
		if (header.p_type == PT_GNU_EH_FRAME) {
			map->table_place = header.p_offset;
			map->table_size = header.p_filesz;
			map->table_address = header.p_vaddr;
		}
	}
	return result;
}

static int take(struct tally_code_map *map, struct tally_elf *elf)
{
	int result = 0;

	if (!elf->elf)
		return 0;
	map->machine = elf->header.e_machine;
	map->is_64_bit = elf->header.e_ident[EI_CLASS] != ELFCLASS32;
	map->big_endian = elf->header.e_ident[EI_DATA] != ELFDATA2LSB;
	if (!map->big_endian) {
		map->word = map->is_64_bit ? 8 : 4;
		result = add_sections(map, elf);
		if (!result)
			result = add_segments(map, elf);
	}
	map->allowed = elf->allowed;
	map->loads = elf->loads;
	map->load_count = elf->load_count;
	elf->loads = NULL;
	elf->load_count = 0;
	return result;
}

int tally_image_code_map(struct tally_image *image, struct tally_code_map *ret)
{
	struct tally_code_map map = {0};
	struct tally_elf binary = {.fd = -1}, debug = {.fd = -1};
	char *data = NULL;
	size_t size;
	int result = 0;

	(void)tally_image_symbol_count(image); /* loads it: its kind no longer changes */
	if (image->kind == TALLY_IMAGE_FILE)
		(void)tally_image_open_files(image, &binary, &debug);
	else if (image->kind == TALLY_IMAGE_VDSO &&
		 tally_image_open_vdso(image, &binary, &data, &size))
		data = NULL;
	result = take(&map, &binary);
	tally_elf_close(&binary);
	tally_elf_close(&debug);
	free(data);
	if (result)
		tally_code_map_done(&map);
	else
		*ret = map;
	return result;
}

void tally_code_map_done(struct tally_code_map *map)
{
	free(map->loads);
	free(map->spans);
	*map = (struct tally_code_map){0};
}

const struct tally_elf_load *tally_code_map_load(const struct tally_code_map *map, uint64_t place)
{
	for (size_t i = 0; i < map->load_count; i++)
		if (place >= map->loads[i].offset &&
		    place - map->loads[i].offset < map->loads[i].size)
			return &map->loads[i];
	return NULL;
}

const struct tally_elf_load *tally_code_map_load_at(const struct tally_code_map *map,
						    uint64_t address)
{
	for (size_t i = 0; i < map->load_count; i++)
		if (address >= map->loads[i].address &&
		    address - map->loads[i].address < map->loads[i].size)
			return &map->loads[i];
	return NULL;
}

const struct tally_code_span *tally_code_map_span(const struct tally_code_map *map, uint64_t place)
{
	for (size_t i = 0; i < map->span_count; i++)
		if (place >= map->spans[i].start && place < map->spans[i].end)
			return &map->spans[i];
	return NULL;
}

uint64_t tally_image_gap_start(const struct tally_image *image, uint64_t place)
{
	const struct tally_symbol_table *table = image->table;
	size_t behind = symbol_steps_behind(&image->steps, table, place);
	uint64_t end = behind ? table->ends[behind - 1] + table->shift : 0;

	return end <= place ? end : 0;
}
