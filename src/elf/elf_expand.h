/* Compressed sections, expanded without libelf: it takes twice as long for zlib, and libelf 0.188
 * knows no zstd. */
#ifndef TALLY_ELF_ELF_EXPAND_H
#define TALLY_ELF_ELF_EXPAND_H

#include "elf/elf_file.h"

/* The bytes of a compressed section, the caller's to free().  0; -ENOTSUP: it is not compressed, or
 * in a way that this build does not know; -EBADMSG: damaged; -EFBIG: more bytes than are allowed;
 * -ENOMEM. */
int tally_elf_expand(const struct tally_elf *elf, const struct tally_elf_section *section,
		     void **ret, size_t *ret_size);

/* For libdw: replaces a file that has sections of debug information that libelf cannot expand by a
 * temporary copy in which they are expanded.  Other files stay as they are.  0, or -errno of the
 * temporary file or as above, and the file is the same as before. */
int tally_elf_expand_file(struct tally_elf *elf);

#endif
