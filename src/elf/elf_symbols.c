#include "elf/elf_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum section_use {
	UNUSED,
	LOADED,
	LABELS
}; /* section not in memory; in memory; in memory, and its labels count too */

/* perf takes labels of sections whose names contain "text" or "data"; addresses in sections that
 * are not loaded (.gnu.warning.*) are invalid. */
static uint8_t *section_uses(const struct tally_elf *elf)
{
	uint8_t *uses = calloc(elf->section_count ? elf->section_count : 1, 1);

	if (!uses)
		return NULL;
	for (size_t i = 1; i < elf->section_count; i++) {
		const struct tally_elf_section *section = &elf->sections[i];

		if (!section->scn || !(section->header.sh_flags & SHF_ALLOC))
			continue;
		uses[i] = strstr(section->name, "text") || strstr(section->name, "data") ? LABELS
											 : LOADED;
	}
	return uses;
}

static bool is_label(const GElf_Sym *symbol)
{
	int visibility = GELF_ST_VISIBILITY(symbol->st_other);

	return GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE && visibility != STV_HIDDEN &&
	       visibility != STV_INTERNAL;
}

static bool is_wanted(const GElf_Sym *symbol, uint8_t use)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	if (use == UNUSED)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT)
		return true;
	return use == LABELS && is_label(symbol);
}

/* Marks of ARM and AArch64 for code and data ($a, $d, $t, $x, with .suffix): not names. */
static bool is_mapping_mark(const struct tally_elf *elf, const char *name)
{
	if (elf->header.e_machine != EM_ARM && elf->header.e_machine != EM_AARCH64)
		return false;
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

static int place_of(const struct tally_elf *elf, const struct tally_elf_places *places,
		    const GElf_Sym *symbol, uint64_t *ret)
{
	const struct tally_elf *runtime = places->runtime;
	uint64_t value = symbol->st_value;

	if (elf->header.e_machine == EM_ARM && GELF_ST_TYPE(symbol->st_info) == STT_FUNC)
		value &= ~(uint64_t)1; /* marks Thumb code */
	if (!runtime) {
		*ret = value + places->shift;
		return 0;
	}
	if (!runtime->load_count) { /* a relocatable object: by section */
		const GElf_Shdr *header = &elf->sections[symbol->st_shndx].header;

		*ret = value - header->sh_addr + header->sh_offset;
		return 0;
	}
	return tally_elf_offset(runtime, value, ret);
}

static int add_one(const struct tally_elf *elf, const struct tally_elf_places *places,
		   const GElf_Sym *symbol, uint32_t name, struct tally_symbol_list *list)
{
	uint64_t start, end;

	if (place_of(elf, places, symbol, &start))
		return 0;
	end = start + symbol->st_size;
	if (end < start) /* a made-up size */
		end = start;
	return tally_symbol_list_add(list, start, end, name, symbol->st_info);
}

/* A table's strings: mapped from the file, or copied. */
struct names {
	const char *text;
	size_t size;
	struct tally_mapped mapped;
	char *copy;
};

static int read_names(const struct tally_elf *elf, const struct tally_elf_section *strings,
		      bool may_map, struct names *ret)
{
	int error;

	if (may_map && !tally_elf_map_strings(elf, strings, &ret->mapped, &ret->text, &ret->size))
		return 0;
	error = tally_elf_read(elf, strings, &ret->copy, &ret->size);
	ret->text = ret->copy;
	return error;
}

/* Names that are copied after others are at the offset that add_all() computed. */
static int keep_names(struct tally_symbol_list *list, struct names *names)
{
	uint32_t base;
	int error;

	if (names->copy) {
		error = tally_symbol_list_take_text(list, names->copy, names->size + 1, &base);
		if (!error)
			names->copy = NULL;
		return error;
	}
	list->mapped = names->mapped;
	list->first = names->text;
	list->first_size = names->size;
	names->mapped = (struct tally_mapped){0};
	return 0;
}

static int add_all(const struct tally_elf *elf, Elf_Data *data, size_t count,
		   const struct names *names, const uint8_t *uses,
		   const struct tally_elf_places *places, struct tally_symbol_list *list)
{
	uint32_t base = (uint32_t)symbol_list_text_end(list);
	int error = tally_symbol_list_reserve(list, count);

	for (size_t i = 1; i < count && !error; i++) {
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		/* above the sections: SHN_ABS, SHN_COMMON and others without a place in the file */
		if (!symbol.st_name || symbol.st_name >= names->size ||
		    symbol.st_shndx >= elf->section_count ||
		    !is_wanted(&symbol, uses[symbol.st_shndx]) ||
		    is_mapping_mark(elf, names->text + symbol.st_name))
			continue;
		error = add_one(elf, places, &symbol, base + symbol.st_name, list);
	}
	return error;
}

int64_t tally_elf_symbols_add(const struct tally_elf *elf, uint32_t type,
			      const struct tally_elf_places *places, struct tally_symbol_list *list)
{
	const struct tally_elf_section *section =
	    tally_elf_find(elf, type == SHT_SYMTAB ? ".symtab" : ".dynsym", type);
	size_t entry = gelf_fsize(elf->elf, ELF_T_SYM, 1, EV_CURRENT);
	const struct tally_elf_section *strings;
	size_t before = list->count;
	uint8_t *uses;
	Elf_Data *data;
	struct names names = {0};
	int error;

	if (!section || section->header.sh_link >= elf->section_count || !entry)
		return -ENOENT;
	strings = &elf->sections[section->header.sh_link];
	if (section->header.sh_size > elf->allowed || strings->header.sh_size > elf->allowed)
		return -EFBIG;
	data = tally_elf_data(elf, section);
	if (!data || !data->d_buf || data->d_size / entry > INT32_MAX)
		return -ENOENT;
	error = read_names(elf, strings, !symbol_list_text_end(list), &names);
	if (error)
		return error == -ENODATA ? -ENOENT : error;
	uses = section_uses(elf);
	if (names.size >= UINT32_MAX - symbol_list_text_end(list))
		error = -EOVERFLOW;
	else
		error = uses ? add_all(elf, data, data->d_size / entry, &names, uses, places, list)
			     : -ENOMEM;
	free(uses);
	if (!error && list->count > before)
		error = keep_names(list, &names);
	free(names.copy);
	tally_fs_unmap(&names.mapped);
	if (!error)
		return (int64_t)(list->count - before);
	list->count = before;
	return error;
}
