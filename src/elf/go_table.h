/* The table of functions that Go's linker writes into each program (.gopclntab), stripped or not:
 * the runtime prints stack traces by it.  Nothing in it is trusted. Source: Go's
 * debug/gosym/pclntab.go and runtime/symtab.go; the four layouts are those of Go 1.2, 1.16, 1.18
 * and 1.20, which differ in a magic number. */
#ifndef TALLY_ELF_GO_TABLE_H
#define TALLY_ELF_GO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "elf/elf_file.h"
#include "elf/symbol_list.h"

struct tally_go_table {
	const uint8_t *bytes;
	size_t size;
	bool big;                      /* byte order */
	unsigned pointer, field;       /* bytes of a pointer, and of a number in `functions` */
	uint64_t count;                /* of functions */
	uint64_t text;                 /* added to addresses in `functions` */
	size_t functions, data, names; /* offsets of parts in `bytes` */
};

struct tally_go_function {
	uint64_t start, end; /* addresses */
	const char *name;    /* in the table's bytes, with its NUL */
};

/* 0, or -EINVAL when these bytes do not begin with a valid header.  Borrows the bytes. */
int tally_go_table_open(const void *bytes, size_t size, bool big, struct tally_go_table *ret);

/* The function of that index, below `count`; -EINVAL when its entry is damaged. */
int tally_go_table_function(const struct tally_go_table *table, uint64_t index,
			    struct tally_go_function *ret);

/* Whether Go's linker made the file. */
bool tally_go_made(const struct tally_elf *elf);

/* Adds the functions of a Go program.  Returns the number added, -ENOENT when the file has no such
 * table, -EFBIG when names take more than is allowed, or -ENOMEM. */
int64_t tally_go_symbols_add(const struct tally_elf *elf, struct tally_symbol_list *list);

#endif
