#include "elf_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define FRONT (sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr))

static void begin(struct elf_made *elf)
{
	if (elf->bytes.size)
		return;
	tally_buf_zero(&elf->bytes, FRONT);
	tally_buf_byte(&elf->names, 0);
	tally_buf_zero(&elf->sections, sizeof(Elf64_Shdr));
}

static uint64_t align(struct elf_made *elf)
{
	begin(elf);
	tally_buf_zero(&elf->bytes, -elf->bytes.size & 15);
	return elf->bytes.size;
}

uint64_t elf_made_end(const struct elf_made *elf)
{
	return elf->bytes.size ? (elf->bytes.size + 15) & ~(uint64_t)15 : (FRONT + 15) & ~15ULL;
}

Elf64_Shdr *elf_made_section(struct elf_made *elf, uint32_t index)
{
	return (Elf64_Shdr *)(void *)elf->sections.data + index;
}

uint32_t elf_made_add(struct elf_made *elf, const char *name, Elf64_Shdr header, const void *data,
		      size_t size)
{
	header.sh_offset = align(elf);
	header.sh_size = size;
	header.sh_addr = header.sh_flags & SHF_ALLOC ? header.sh_offset : 0;
	header.sh_addralign = 16;
	header.sh_name = (Elf64_Word)elf->names.size;
	tally_buf_add(&elf->names, name, strlen(name) + 1);
	if (size)
		tally_buf_add(&elf->bytes, data, size);
	tally_buf_add(&elf->sections, &header, sizeof(header));
	return (uint32_t)(elf->sections.size / sizeof(header)) - 1;
}

uint32_t elf_made_add_packed(struct elf_made *elf, const char *name, const void *data, size_t size)
{
	Elf64_Chdr chdr = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = size, .ch_addralign = 1};
	uLongf packed = compressBound(size);
	uint8_t *bytes = malloc(sizeof(chdr) + packed);
	uint32_t index;

	if (!bytes || compress2(bytes + sizeof(chdr), &packed, data, size, Z_BEST_SPEED) != Z_OK)
		exit(2);
	memcpy(bytes, &chdr, sizeof(chdr));
	index = elf_made_add(elf, name,
			     (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_flags = SHF_COMPRESSED},
			     bytes, sizeof(chdr) + packed);
	free(bytes);
	return index;
}

void elf_made_write(struct elf_made *elf, const char *path)
{
	Elf64_Ehdr head = {
	    .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
	    .e_type = ET_DYN,
	    .e_machine = EM_X86_64,
	    .e_version = EV_CURRENT,
	    .e_phoff = sizeof(head),
	    .e_ehsize = sizeof(head),
	    .e_phentsize = sizeof(Elf64_Phdr),
	    .e_phnum = 1,
	    .e_shentsize = sizeof(Elf64_Shdr)};
	Elf64_Phdr load = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X};
	uint32_t names, count;
	FILE *file;

	begin(elf);
	names = elf_made_add(elf, ".shstrtab", (Elf64_Shdr){.sh_type = SHT_STRTAB}, NULL, 0);
	elf_made_section(elf, names)->sh_size = elf->names.size;
	tally_buf_add(&elf->bytes, elf->names.data, elf->names.size);
	load.p_filesz = load.p_memsz = elf->bytes.size;
	count = names + 1;
	head.e_shoff = align(elf);
	head.e_shnum = count < SHN_LORESERVE ? (Elf64_Half)count : 0;
	head.e_shstrndx = names < SHN_LORESERVE ? (Elf64_Half)names : SHN_XINDEX;
	if (count >= SHN_LORESERVE) {
		elf_made_section(elf, 0)->sh_size = count;
		elf_made_section(elf, 0)->sh_link = names;
	}
	tally_buf_add(&elf->bytes, elf->sections.data, elf->sections.size);
	memcpy(elf->bytes.data, &head, sizeof(head));
	memcpy(elf->bytes.data + sizeof(head), &load, sizeof(load));
	file = fopen(path, "we");
	if (elf->bytes.failed || !file ||
	    fwrite(elf->bytes.data, 1, elf->bytes.size, file) != elf->bytes.size || fclose(file))
		exit(2);
	tally_buf_done(&elf->bytes);
	tally_buf_done(&elf->names);
	tally_buf_done(&elf->sections);
}
