#include "types/global_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include "base/bytes.h"
#include "base/sorted.h"
#include "base/table.h"

static int add(struct global_symbols *symbols, const GElf_Sym *symbol, const char *name)
{
	const struct global_symbol one = {symbol->st_value, symbol->st_size, name};

	if (GELF_ST_TYPE(symbol->st_info) == STT_TLS) {
		if (!array_next(&symbols->of_threads, &symbols->thread_room, symbols->thread_count,
				16, sizeof(one)))
			return -ENOMEM;
		symbols->of_threads[symbols->thread_count++] = one;
	} else {
		if (!array_next(&symbols->list, &symbols->room, symbols->count, 64, sizeof(one)))
			return -ENOMEM;
		symbols->list[symbols->count++] = one;
	}
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct global_symbol *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

int tally_global_symbols_read(struct global_symbols *symbols, const struct tally_elf *elf)
{
	const struct tally_elf_section *section = tally_elf_find(elf, ".symtab", SHT_SYMTAB);
	size_t entry, count;
	Elf_Data *data;
	int error = 0;

	if (!section)
		section = tally_elf_find(elf, ".dynsym", SHT_DYNSYM);
	data = section ? tally_elf_data(elf, section) : NULL;
	entry = elf->elf ? gelf_fsize(elf->elf, ELF_T_SYM, 1, EV_CURRENT) : 0;
	count = data && data->d_buf && entry ? data->d_size / entry : 0;
	for (size_t i = 1; i < count && i < INT32_MAX && !error; i++) {
		const char *name;
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		if ((GELF_ST_TYPE(symbol.st_info) != STT_OBJECT &&
		     GELF_ST_TYPE(symbol.st_info) != STT_TLS) ||
		    symbol.st_shndx == SHN_UNDEF || !symbol.st_size)
			continue;
		name = elf_strptr(elf->elf, section->header.sh_link, symbol.st_name);
		if (name)
			error = add(symbols, &symbol, name);
	}
	if (symbols->count)
		qsort(symbols->list, symbols->count, sizeof(*symbols->list), by_address);
	if (symbols->thread_count)
		qsort(symbols->of_threads, symbols->thread_count, sizeof(*symbols->of_threads),
		      by_address);
	return error;
}

void tally_global_symbols_done(struct global_symbols *symbols)
{
	free(symbols->list);
	free(symbols->of_threads);
	*symbols = (struct global_symbols){0};
}

const char *tally_global_symbol_at(const struct global_symbols *symbols, bool of_thread,
				   uint64_t address, uint64_t *ret_start)
{
	const struct global_symbol *list = of_thread ? symbols->of_threads : symbols->list;
	size_t low = SORTED_BOUND(at, 0, of_thread ? symbols->thread_count : symbols->count,
				  list[at].address <= address);

	if (!low || address - list[low - 1].address >= list[low - 1].size)
		return NULL;
	*ret_start = list[low - 1].address;
	return list[low - 1].name;
}

bool tally_thread_place(const struct tally_elf *elf, int64_t displacement, uint64_t *ret)
{
	size_t count = 0;

	if (!elf->elf || elf_getphdrnum(elf->elf, &count))
		return false;
	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		GElf_Phdr header;
		uint64_t size, align;

		if (!gelf_getphdr(elf->elf, (int)i, &header) || header.p_type != PT_TLS)
			continue;
		align = header.p_align ? header.p_align : 1;
		if (header.p_memsz > INT32_MAX || align > 1U << 20 || align & (align - 1))
			return false;
		size = align_up(header.p_memsz, align);
		*ret = size + (uint64_t)displacement;
		return displacement < 0 && *ret < size;
	}
	return false;
}
