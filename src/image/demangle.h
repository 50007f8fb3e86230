/* Names as people write them, from names as linkers do. */
#ifndef TALLY_IMAGE_DEMANGLE_H
#define TALLY_IMAGE_DEMANGLE_H

#include <stdbool.h>

/* Whether the name looks mangled: C++ (Itanium), Rust (legacy and v0), OCaml.  Cheap. */
bool tally_demangle_wanted(const char *name);

/* The name without its parameters, as perf report shows it; the caller's to free().  NULL: it is
 * plain, or damaged, or there is no memory. */
char *tally_demangle(const char *name);

#endif
