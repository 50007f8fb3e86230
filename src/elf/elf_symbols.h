/* From ELF symbol tables to ours. */
#ifndef TALLY_ELF_ELF_SYMBOLS_H
#define TALLY_ELF_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>
#include "elf/elf_file.h"
#include "elf/symbol_list.h"

/* How symbol values become places. */
struct tally_elf_places {
	const struct tally_elf *runtime; /* file offsets by the segments of this file; NULL: none,
					  * addresses are kept */
	uint64_t shift;                  /* added to addresses that are kept */
};

/* Adds the functions, objects and labels of .symtab (or .dynsym, by `type`, SHT_SYMTAB or
 * SHT_DYNSYM), and their names.  Returns the number added, -ENOENT without such a section, or
 * another -errno. */
int64_t tally_elf_symbols_add(const struct tally_elf *elf, uint32_t type,
			      const struct tally_elf_places *places,
			      struct tally_symbol_list *list);

#endif
