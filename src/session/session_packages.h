/* Packages of the system that have the symbols of binaries. */
#ifndef TALLY_SESSION_SESSION_PACKAGES_H
#define TALLY_SESSION_SESSION_PACKAGES_H

#include <stddef.h>

struct tally_session;

/* By path, of files of this machine: each NULL, or the caller's to free().  "" has none.  0 or
 * -ENOMEM. */
int tally_session_symbol_packages(const struct tally_session *session, const char *const *paths,
				  size_t count, char **ret);

#endif
