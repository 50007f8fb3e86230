/* The package that a file belongs to, so that a message can name the package with its symbols. */
#ifndef TALLY_ELF_PACKAGE_H
#define TALLY_ELF_PACKAGE_H

#include <stddef.h>

/* Finds the Debian packages of these files, by dpkg's lists below `root` ("" for the system's). ret
 * has `count` elements, each NULL if no package has the file, else the caller's to free().  No
 * program is run.  0 or -ENOMEM. */
int tally_package_find(const char *root, const char *const *paths, size_t count, char **ret);

/* The package with the symbols of that package's binaries, for free(); NULL: out of memory. */
char *tally_package_symbols(const char *package);

#endif
