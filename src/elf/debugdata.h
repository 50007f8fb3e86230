/* .gnu_debugdata: a small .symtab that distributions compress into stripped binaries. */
#ifndef TALLY_ELF_DEBUGDATA_H
#define TALLY_ELF_DEBUGDATA_H

#include "elf/elf_file.h"

/* Unpacks the section (xz of an ELF file) and opens it; *ret_memory is the caller's to free() after
 * *ret is closed.  -ENOENT: the binary has none; -ENOTSUP: built without liblzma; -EBADMSG:
 * damaged; -EFBIG: it expands to more than is allowed. */
int tally_debugdata_open(const struct tally_elf *elf, struct tally_elf *ret, char **ret_memory);

#endif
