/* The kernel's own symbol table, /proc/kallsyms or a copy of it: the kernel and its modules. */
#ifndef TALLY_IMAGE_KALLSYMS_H
#define TALLY_IMAGE_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/fs.h"
#include "elf/symbol_table.h"

struct tally_kallsyms { /* all zero is empty and valid */
	char *text;     /* the names; NULL when they are in `mapped` */
	size_t text_size;
	struct tally_mapped mapped; /* the cache's file that holds all else, or nothing */
	const char **modules;       /* by group; 0 is the kernel, NULL; names without brackets */
	struct tally_symbol_table *tables; /* by group */
	size_t group_count;
	size_t lines; /* well-formed lines seen */
	uint64_t text_start,
	    stext_start; /* of _text and _stext, which share their place with others */
	bool hidden;     /* all addresses read as 0: the kernel does not show them to us */
};

/* Takes text over (malloc'ed, NUL behind `size` bytes).  0 or -ENOMEM; then it is empty. */
int tally_kallsyms_parse(char *text, size_t size, struct tally_kallsyms *ret);
void tally_kallsyms_done(struct tally_kallsyms *kallsyms);

/* The table of a module ("ext4"), of the kernel (NULL), or NULL. */
const struct tally_symbol_table *tally_kallsyms_find(const struct tally_kallsyms *kallsyms,
						     const char *module);
/* The address of the anchor that recordings name, "_text" or "_stext"; 0: not known. */
uint64_t tally_kallsyms_anchor(const struct tally_kallsyms *kallsyms, const char *name);

/* Moves all addresses: the same kernel was loaded `delta` elsewhere. */
void tally_kallsyms_shift(struct tally_kallsyms *kallsyms, uint64_t delta);

#endif
