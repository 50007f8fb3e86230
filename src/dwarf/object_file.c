#include "dwarf/object_file.h"

#include <string.h>
#include "base/bytes.h"

/* Addresses begin here: 0 means in debug information that code was removed. */
#define FIRST_ADDRESS 0x1000U
#define ALIGN_MOST    ((uint64_t)1 << 20)

void tally_object_lay_out(struct tally_elf *elf)
{
	uint64_t at = FIRST_ADDRESS;

	for (size_t i = 1; i < elf->section_count; i++) {
		GElf_Shdr *header = &elf->sections[i].header;
		uint64_t align = header->sh_addralign;

		if (!elf->sections[i].scn || !(header->sh_flags & SHF_ALLOC))
			continue;
		if (align > 1 && align <= ALIGN_MOST && !(align & (align - 1)))
			at = (at + align - 1) & ~(align - 1);
		header->sh_addr = at;
		if (__builtin_add_overflow(at, header->sh_size, &at) || at > INT64_MAX)
			return;
	}
}

/* The next section of relocations of a section, from *at on; NULL: no more. */
static const struct tally_elf_section *next_of(const struct tally_elf *elf,
					       const struct tally_elf_section *section, size_t *at)
{
	size_t number = (size_t)(section - elf->sections);

	while (*at < elf->section_count) {
		const struct tally_elf_section *one = &elf->sections[(*at)++];

		if (one->scn && one->header.sh_info == number &&
		    (one->header.sh_type == SHT_RELA || one->header.sh_type == SHT_REL))
			return one;
	}
	return NULL;
}

bool tally_object_is_relocated(const struct tally_elf *elf, const struct tally_elf_section *section)
{
	size_t at = 1;

	return next_of(elf, section, &at) != NULL;
}

/* Bytes of a relocation that stores symbol + addend; 0: it is of another kind. Sources: the psABIs
 * of x86-64, i386 and AArch64. */
static unsigned width_of(const struct tally_elf *elf, uint64_t type)
{
	switch (elf->header.e_machine) {
	case EM_X86_64:
		return type == R_X86_64_64                           ? 8
		       : type == R_X86_64_32 || type == R_X86_64_32S ? 4
								     : 0;
	case EM_386:
		return type == R_386_32 ? 4 : 0;
	case EM_AARCH64:
		return type == R_AARCH64_ABS64 ? 8 : type == R_AARCH64_ABS32 ? 4 : 0;
	default:
		return 0;
	}
}

/* The address of a symbol; false: it has none. */
static bool symbol_value(const struct tally_elf *elf, Elf_Data *symbols, uint64_t number,
			 uint64_t *ret)
{
	GElf_Sym symbol;

	if (number > INT32_MAX || !gelf_getsym(symbols, (int)number, &symbol))
		return false;
	*ret = symbol.st_value;
	if (symbol.st_shndx == SHN_UNDEF)
		return number == 0;
	if (symbol.st_shndx < elf->section_count)
		*ret += elf->sections[symbol.st_shndx].header.sh_addr;
	return true;
}

static bool is_foreign(const struct tally_elf *elf)
{
	const uint16_t one = 1;

	return (elf->header.e_ident[EI_DATA] == ELFDATA2LSB) != (*(const uint8_t *)&one == 1);
}

/* `add`: to what is there, as the relocation has no addend. */
static void store(uint8_t *to, unsigned width, uint64_t value, bool add, bool foreign)
{
	uint64_t wide = 0;
	uint32_t half = 0;

	if (width == 8) {
		memcpy(&wide, to, sizeof(wide));
		wide = (add ? foreign ? __builtin_bswap64(wide) : wide : 0) + value;
		wide = foreign ? __builtin_bswap64(wide) : wide;
		memcpy(to, &wide, sizeof(wide));
	} else {
		memcpy(&half, to, sizeof(half));
		half = (add ? foreign ? __builtin_bswap32(half) : half : 0) + (uint32_t)value;
		half = foreign ? __builtin_bswap32(half) : half;
		memcpy(to, &half, sizeof(half));
	}
}

static void relocate_by(const struct tally_elf *elf, const struct tally_elf_section *by,
			uint8_t *bytes, size_t size)
{
	size_t link = by->header.sh_link;
	Elf_Data *data = tally_elf_data(elf, by), *symbols = NULL;
	size_t entry = by->header.sh_entsize, count;
	bool addends = by->header.sh_type == SHT_RELA, foreign = is_foreign(elf);

	if (link < elf->section_count && elf->sections[link].header.sh_type == SHT_SYMTAB)
		symbols = tally_elf_data(elf, &elf->sections[link]);
	if (!data || !symbols || !entry)
		return;
	count = data->d_size / entry;
	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		GElf_Rela one = {.r_addend = 0};
		GElf_Rel plain;
		uint64_t value;
		unsigned width;

		if (addends ? !gelf_getrela(data, (int)i, &one)
			    : !gelf_getrel(data, (int)i, &plain))
			return;
		if (!addends)
			one = (GElf_Rela){.r_offset = plain.r_offset, .r_info = plain.r_info};
		width = width_of(elf, GELF_R_TYPE(one.r_info));
		if (!width || one.r_offset > size || width > size - one.r_offset ||
		    !symbol_value(elf, symbols, GELF_R_SYM(one.r_info), &value))
			continue;
		store(bytes + one.r_offset, width, value + (uint64_t)one.r_addend, !addends,
		      foreign);
	}
}

void tally_object_relocate(const struct tally_elf *elf, const struct tally_elf_section *section,
			   uint8_t *bytes, size_t size)
{
	const struct tally_elf_section *by;
	size_t at = 1;

	while ((by = next_of(elf, section, &at)))
		relocate_by(elf, by, bytes, size);
}
