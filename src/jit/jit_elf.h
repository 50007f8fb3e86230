/* A function of a dump as an ELF file of its own: its code and symbol, its lines as DWARF, its call
 * frame information.  Readers of perf.data that know no dumps find names and lines there. */
#ifndef TALLY_JIT_JIT_ELF_H
#define TALLY_JIT_JIT_ELF_H

#include "base/buf.h"
#include "jit/jitdump.h"

/* Where the code is in the file, which is its address there, too. */
#define TALLY_JIT_ELF_TEXT 0x80U

/* Appends the file's bytes.  0, -ENOMEM, -ENODATA when the dump has been cut since. */
int tally_jit_elf_make(const struct tally_jitdump *dump, size_t code, struct tally_buf *to);

#endif
