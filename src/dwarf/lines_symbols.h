/* The function at an address by the symbol table alone, as binutils chooses it for addr2line: the
 * last that starts in the same section at or before the address, however long it is. */
#ifndef TALLY_DWARF_LINES_SYMBOLS_H
#define TALLY_DWARF_LINES_SYMBOLS_H

#include <stdbool.h>
#include "elf/elf_file.h"

struct tally_line_symbol {
	uint64_t address, size;
	const char *name; /* mangled; lives as long as the file is open */
	const char *file; /* of the STT_FILE that it stands behind; NULL: unknown */
	uint32_t section;
};

struct tally_line_symbols { /* all zero is empty and valid */
	struct tally_line_symbol *list;
	size_t count;
};

/* Takes .symtab, or .dynsym where it has none.  0 or -ENOMEM. */
int tally_line_symbols_read(struct tally_line_symbols *symbols, const struct tally_elf *elf);
void tally_line_symbols_done(struct tally_line_symbols *symbols);

/* The number of the section in memory that holds the address, or 0. */
uint32_t tally_line_section(const struct tally_elf *elf, uint64_t address);
/* NULL: no function starts at or before it. */
const struct tally_line_symbol *tally_line_symbols_find(const struct tally_line_symbols *symbols,
							uint32_t section, uint64_t address);

#endif
