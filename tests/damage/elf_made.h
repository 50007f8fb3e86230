/* ELF files made section by section, for tests: 64 bits, little endian, x86-64.  Addresses are file
 * offsets, so that a mapping of the whole file from offset 0 holds all that is in it. */
#ifndef TALLY_TESTS_ELF_MADE_H
#define TALLY_TESTS_ELF_MADE_H

#include <elf.h>
#include <stdint.h>
#include "base/buf.h"

struct elf_made { /* all zero is empty and valid */
	struct tally_buf bytes, names, sections;
};

/* Appends a section and returns its index.  `header` gives type, flags, link, info and entsize;
 * offset, size, and of what has SHF_ALLOC the address, are filled in. */
uint32_t elf_made_add(struct elf_made *elf, const char *name, Elf64_Shdr header, const void *data,
		      size_t size);
/* The same, compressed by zlib. */
uint32_t elf_made_add_packed(struct elf_made *elf, const char *name, const void *data, size_t size);
/* Where the next section will be. */
uint64_t elf_made_end(const struct elf_made *elf);
Elf64_Shdr *elf_made_section(struct elf_made *elf, uint32_t index);
/* Puts header and tables around it, and writes it to the path. */
void elf_made_write(struct elf_made *elf, const char *path);

#endif
