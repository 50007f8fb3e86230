/* Which package of the system a file is of, so that it can be said where its symbols are. */
#ifndef TALLY_ELF_PACKAGE_H
#define TALLY_ELF_PACKAGE_H

#include <stddef.h>

/* The Debian packages that hold these files, by dpkg's lists below `root` ("" is the system's): ret
 * has as many places, each NULL when no package has the file, else the caller's to free().  Nothing
 * is run.  0 or -ENOMEM. */
int tally_package_find(const char *root, const char *const *paths, size_t count, char **ret);

/* The package with the symbols of that package's binaries, for free(); NULL: out of memory. */
char *tally_package_symbols(const char *package);

#endif
