/* Programs and libraries by name. */
#ifndef TALLY_PROBE_FIND_PROGRAM_H
#define TALLY_PROBE_FIND_PROGRAM_H

#include <tally/probe.h>
#include "base/map.h"

/* The path of a program or library: unchanged when it has a slash, else of a program in $PATH,
 * else of a library where the dynamic linker looks ("libc" is libc.so.6).  The caller's to free().
 * -ENOENT, -ENOMEM. */
int tally_program_find(const char *name, char **ret);

/* Adds the paths of all binaries that the targets run: see struct tally_probe_options.  -ENOMEM;
 * what cannot be read adds none. */
int tally_program_list(const struct tally_probe_options *options, struct tally_strings *ret);

#endif
