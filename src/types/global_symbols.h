/* Symbols of data by address: of variables that are defined in another unit than the code. */
#ifndef TALLY_TYPES_GLOBAL_SYMBOLS_H
#define TALLY_TYPES_GLOBAL_SYMBOLS_H

#include "elf/elf_file.h"

struct global_symbol {
	uint64_t address, size;
	const char *name; /* the file's */
};

struct global_symbols {                          /* all zero is empty and valid */
	struct global_symbol *list, *of_threads; /* by address */
	size_t count, room, thread_count, thread_room;
};

/* Of .symtab, or .dynsym where it has none.  0 or -ENOMEM. */
int tally_global_symbols_read(struct global_symbols *symbols, const struct tally_elf *elf);
void tally_global_symbols_done(struct global_symbols *symbols);
/* The name of the symbol that holds an address, or a place in the memory of threads, and where it
 * begins; NULL: none. */
const char *tally_global_symbol_at(const struct global_symbols *symbols, bool of_thread,
				   uint64_t address, uint64_t *ret_start);

/* The place in a program's memory of threads that code of x86-64 addresses by fs and a
 * displacement.  False: it has no such memory.  Source: Drepper, "ELF handling for thread-local
 * storage", 3.4 (variant II). */
bool tally_thread_place(const struct tally_elf *elf, int64_t displacement, uint64_t *ret);

#endif
