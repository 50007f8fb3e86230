/* Makes names as people write them from the linker's names. */
#ifndef TALLY_ELF_DEMANGLE_H
#define TALLY_ELF_DEMANGLE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the name looks mangled: C++ (Itanium), Rust (legacy and v0), OCaml.  Cheap. */
bool tally_demangle_wanted(const char *name);

/* The name without its parameters, as perf report shows it; the caller's to free().  NULL: it is
 * not mangled, damaged, or too long before or after, or there is no memory: then it is shown
 * unchanged.
 *
 * A made-up name of a few thousand bytes can become gigabytes.  So a name may become at most 64 kB,
 * and all names together use at most *left bytes, from which the bytes read and written are
 * subtracted. */
char *tally_demangle(const char *name, uint64_t *left);

#endif
