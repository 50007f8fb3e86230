/* The kernel's functions by name: all of /proc/kallsyms, aliases too. */
#ifndef TALLY_PROBE_KERNEL_SYMBOLS_H
#define TALLY_PROBE_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>

struct kernel_symbol {
	uint64_t address;
	const char *name;
	const char *module; /* NULL: the kernel itself */
};

struct kernel_symbols {
	struct kernel_symbol *list; /* functions, by address */
	size_t count;
	uint64_t text, text_end; /* _text, _etext; 0: unknown */
	char *memory;
};

/* -EACCES: the addresses are hidden from this user; -errno, -ENOMEM. */
int tally_kernel_symbols_open(const char *procfs, struct kernel_symbols *ret,
			      struct tally_error *error);
void tally_kernel_symbols_close(struct kernel_symbols *symbols);
/* The last function that starts at or before an address, of the kernel itself; NULL: none. */
const struct kernel_symbol *tally_kernel_symbols_at(const struct kernel_symbols *symbols,
						    uint64_t address);

#endif
