/* The libraries that a binary needs. */
#ifndef TALLY_ELF_NEEDED_H
#define TALLY_ELF_NEEDED_H

#include "base/map.h"

/* Adds the names of DT_NEEDED ("libc.so.6") and the folders of DT_RUNPATH or DT_RPATH, $ORIGIN
 * resolved.  Source: ld.so(8).  -errno; a file without dynamic linking adds none. */
int tally_image_needed(const char *path, struct tally_strings *libraries,
		       struct tally_strings *folders);

#endif
