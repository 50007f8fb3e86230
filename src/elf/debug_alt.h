/* The file that debug information shares with others (dwz(1), .gnu_debugaltlink). */
#ifndef TALLY_ELF_DEBUG_ALT_H
#define TALLY_ELF_DEBUG_ALT_H

#include <stdbool.h>
#include "elf/elf_file.h"

/* Whether the file names one. */
bool tally_debug_alt_named(const struct tally_elf *elf);
/* Its build-id; false: the file names none. */
bool tally_debug_alt_id(const struct tally_elf *elf, uint8_t ret[20], uint8_t *ret_size);
/* Opens it, by its build-id or by the name that the file has for it.  0, or -ENOENT: the file names
 * none, or it is not here. */
int tally_debug_alt_open(const struct tally_elf *elf, struct tally_elf *ret);

#endif
