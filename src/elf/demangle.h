/* Names as people write them, from names as linkers do. */
#ifndef TALLY_ELF_DEMANGLE_H
#define TALLY_ELF_DEMANGLE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the name looks mangled: C++ (Itanium), Rust (legacy and v0), OCaml.  Cheap. */
bool tally_demangle_wanted(const char *name);

/* The name without its parameters, as perf report shows it; the caller's to free().  NULL: it is
 * plain, or damaged, or too long, or becomes too long, or there is no memory: then it is shown as
 * it is.
 *
 * A few thousand bytes can be made to become gigabytes, so that a name may become 64 kB at most,
 * and all names together *left bytes, of which is taken what was read and written. */
char *tally_demangle(const char *name, uint64_t *left);

#endif
