/* The folders and archives that a session's options name for binaries and debug files. */
#ifndef TALLY_RESOLVE_DEBUG_DIRS_H
#define TALLY_RESOLVE_DEBUG_DIRS_H

#include <tally/session.h>
#include "elf/debug_places.h"

struct tally_debug_dirs { /* all zero is none */
	struct tally_debug_places places;
	struct tally_tar **archives;
	char **folders, *fetched;
};

/* Opens the archives.  0; -errno, with the name of the one that cannot be used. */
int tally_debug_dirs_open(struct tally_data *data, const struct tally_session_options *options,
			  struct tally_debug_dirs *ret, struct tally_error *error);
void tally_debug_dirs_done(struct tally_debug_dirs *dirs);

#endif
