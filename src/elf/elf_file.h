/* One ELF file opened for reading its symbols, through libelf; nothing in it is trusted. */
#ifndef TALLY_ELF_ELF_FILE_H
#define TALLY_ELF_ELF_FILE_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <gelf.h>
#include "base/fs.h"

struct tally_debug_places;

/* The most bytes of a name or path that is copied out of a file.  Names of C++ that are whole
 * expressions reach some ten thousand. */
#define TALLY_NAME_MOST 16384

struct tally_elf_load { /* a PT_LOAD segment */
	uint64_t address, offset, size;
};

struct tally_elf_section {
	Elf_Scn *scn; /* NULL: unreadable */
	const char *name;
	GElf_Shdr header;
};

struct tally_elf {
	Elf *elf;
	int fd;           /* -1: from memory */
	const char *data; /* from memory: borrowed */
	uint64_t size;
	uint64_t allowed;                        /* bytes of memory that its tables may take */
	uid_t owner;                             /* of the file; for memory, the caller */
	const struct tally_debug_places *places; /* for files that belong to it; or NULL */
	GElf_Ehdr header;
	struct tally_elf_section *sections;
	size_t section_count;
	struct tally_elf_load *loads;
	size_t load_count;
};

/* The memory that the tables of a file of so many bytes may take: a small file gets little, a
 * large one what it needs.  Stated in doc/ARCHITECTURE.md. */
static inline uint64_t elf_allowed(uint64_t file_size)
{
	return ((uint64_t)64 << 20) +
	       (file_size < UINT64_MAX / 32 ? file_size * 16 : UINT64_MAX / 2);
}

/* Opens a regular file only, without waiting (base/regular.h).  0, -errno of the file, -ENOEXEC
 * when it is not ELF (or beyond repair), -ENODEV if the file must not be opened. */
int tally_elf_open(const char *path, struct tally_elf *ret);
/* The same of a file that is open; the descriptor is taken over, also when it fails. */
int tally_elf_open_fd(int fd, struct tally_elf *ret);
int tally_elf_open_memory(char *data, size_t size, struct tally_elf *ret);
void tally_elf_close(struct tally_elf *elf);

/* A section's data in this machine's byte order, libelf's own; NULL: there is none, or it is larger
 * than is allowed. */
Elf_Data *tally_elf_data(const struct tally_elf *elf, const struct tally_elf_section *section);
/* The size of the section without compression. */
uint64_t tally_elf_expanded(const struct tally_elf_section *section);

/* The first section of that name and type (SHT_NULL: any), or NULL. */
const struct tally_elf_section *tally_elf_find(const struct tally_elf *elf, const char *name,
					       uint32_t type);

/* The file offset of an address, by the segment that contains it. -ENOENT: no segment does. */
int tally_elf_offset(const struct tally_elf *elf, uint64_t address, uint64_t *ret);

/* A copy of the section's bytes with a NUL at the end, so that every string ends within it; the
 * caller's to free().  It is copied, not mapped, because a mapping would fault if the binary is
 * rebuilt meanwhile.  -ENODATA: no bytes in the file; -EFBIG: more than are allowed. */
int tally_elf_read(const struct tally_elf *elf, const struct tally_elf_section *section, char **ret,
		   size_t *ret_size);

/* Maps a large section of strings from the file, with a NUL as its last byte in any case: a copy
 * would be most of the memory that is used.  `ret_strings` is borrowed from `ret`, which is the
 * caller's to tally_fs_unmap().  -ENODATA: small, in memory, or without a NUL at its end:
 * tally_elf_read() it. */
int tally_elf_map_strings(const struct tally_elf *elf, const struct tally_elf_section *section,
			  struct tally_mapped *ret, const char **ret_strings, size_t *ret_size);

/* A copy of one string of a section of strings, the caller's to free(): for a large section of
 * which few strings are needed.  -ENODATA: `at` is not in it, or it is longer than
 * TALLY_NAME_MOST. */
int tally_elf_read_string(const struct tally_elf *elf, const struct tally_elf_section *section,
			  uint64_t at, char **ret);

/* NT_GNU_BUILD_ID; size 0: has none. */
void tally_elf_build_id(const struct tally_elf *elf, uint8_t ret[20], uint8_t *ret_size);

#endif
