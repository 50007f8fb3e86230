#include "dwarf/lines_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/key_order.h"
#include "base/sorted.h"
#include "base/table.h"
#include "dwarf/object_file.h"

/* Which symbols name functions is what binutils 2.40 makes of them (measured against its
 * addr2line): all but sections, files, data and thread-local ones, so that labels of assembly do
 * too; hidden local labels without a size are marks that compilers leave. */
static bool is_function(const GElf_Sym *symbol)
{
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		return symbol->st_size || GELF_ST_BIND(symbol->st_info) != STB_LOCAL ||
		       GELF_ST_VISIBILITY(symbol->st_other) != STV_HIDDEN;
	default:
		return false;
	}
}

/* A file's name is certain for local symbols; for global ones only where no other file's name
 * follows a symbol. */
static int read_table(struct tally_line_symbols *symbols, const struct tally_elf *elf,
		      const struct tally_elf_section *section)
{
	Elf_Data *data = tally_elf_data(elf, section);
	size_t entry = gelf_fsize(elf->elf, ELF_T_SYM, 1, EV_CURRENT);
	size_t count = data && data->d_buf && entry ? data->d_size / entry : 0;
	const char *file = NULL;
	bool seen = false, several = false;

	if (count > INT32_MAX)
		count = INT32_MAX;
	symbols->list = array_new(count + 1, sizeof(*symbols->list));
	if (!symbols->list)
		return -ENOMEM;
	for (size_t i = 1; i < count; i++) {
		struct tally_line_symbol one;
		GElf_Sym symbol;
		bool local;

		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
		if (GELF_ST_TYPE(symbol.st_info) == STT_FILE) {
			file = elf_strptr(elf->elf, section->header.sh_link, symbol.st_name);
			several |= seen;
			continue;
		}
		seen = true;
		if (!is_function(&symbol) || symbol.st_shndx >= elf->section_count ||
		    symbol.st_shndx == SHN_UNDEF)
			continue;
		one.name = elf_strptr(elf->elf, section->header.sh_link, symbol.st_name);
		if (!one.name)
			continue;
		one.address = symbol.st_value;
		if (elf_is_object(elf))
			one.address += elf->sections[symbol.st_shndx].header.sh_addr;
		one.size = symbol.st_size ? symbol.st_size : 1;
		one.section = symbol.st_shndx;
		one.file = local || !several ? file : NULL;
		symbols->list[symbols->count++] = one;
	}
	return 0;
}

enum sort_key { BY_SIZE, BY_ADDRESS, BY_SECTION, SORT_KEYS };

static uint64_t key_of(const struct tally_line_symbol *symbol, enum sort_key key)
{
	switch (key) {
	case BY_SIZE:
		return symbol->size;
	case BY_ADDRESS:
		return symbol->address;
	default:
		return symbol->section;
	}
}

/* By section and address; of those at one address the longest last, of equal ones the first of the
 * file. */
static int sort(struct tally_line_symbols *symbols)
{
	size_t count = symbols->count;
	uint64_t *keys = array_new(count, sizeof(*keys));
	uint32_t *order = array_new(count, sizeof(*order));
	uint32_t *spare = array_new(count, sizeof(*spare));
	struct tally_line_symbol *sorted = array_new(count, sizeof(*sorted));
	bool room = keys && order && spare && sorted;

	for (size_t i = 0; i < count && room; i++)
		order[i] = (uint32_t)(count - 1 - i);
	for (enum sort_key key = BY_SIZE; key < SORT_KEYS && room; key++) {
		for (size_t i = 0; i < count; i++)
			keys[i] = key_of(&symbols->list[i], key);
		tally_key_sort(keys, order, spare, count);
	}
	for (size_t i = 0; i < count && room; i++)
		sorted[i] = symbols->list[order[i]];
	free(keys);
	free(order);
	free(spare);
	if (!room) {
		free(sorted);
		return -ENOMEM;
	}
	free(symbols->list);
	symbols->list = sorted;
	return 0;
}

int tally_line_symbols_read(struct tally_line_symbols *symbols, const struct tally_elf *elf)
{
	const struct tally_elf_section *section = tally_elf_find(elf, ".symtab", SHT_SYMTAB);
	int error = 0;

	if (!section)
		section = tally_elf_find(elf, ".dynsym", SHT_DYNSYM);
	if (section)
		error = read_table(symbols, elf, section);
	return error || !symbols->count ? error : sort(symbols);
}

void tally_line_symbols_done(struct tally_line_symbols *symbols)
{
	free(symbols->list);
	*symbols = (struct tally_line_symbols){0};
}

uint32_t tally_line_section(const struct tally_elf *elf, uint64_t address)
{
	for (size_t i = 1; i < elf->section_count; i++) {
		const GElf_Shdr *header = &elf->sections[i].header;

		/* those of .tbss are taken by what follows it */
		if (elf->sections[i].scn && header->sh_flags & SHF_ALLOC &&
		    !(header->sh_flags & SHF_TLS) && address >= header->sh_addr &&
		    address - header->sh_addr < header->sh_size)
			return (uint32_t)i;
	}
	return 0;
}

const struct tally_line_symbol *tally_line_symbols_find(const struct tally_line_symbols *symbols,
							uint32_t section, uint64_t address)
{
	const struct tally_line_symbol *list = symbols->list;
	size_t from = SORTED_BOUND(at, 0, symbols->count,
				   list[at].section < section || (list[at].section == section &&
								  list[at].address <= address));

	return from && list[from - 1].section == section ? &list[from - 1] : NULL;
}
