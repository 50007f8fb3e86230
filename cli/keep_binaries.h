/* After a recording: its binaries go into the build-id cache. */
#ifndef TALLY_CLI_KEEP_BINARIES_H
#define TALLY_CLI_KEEP_BINARIES_H

#include <stdbool.h>

struct cli_keep {
	const char *folder; /* NULL: ~/.debug */
	bool all;           /* also binaries without samples */
	bool quiet, verbose;
};

/* Says in a line what could not be kept; the recording is good without. */
void cli_keep_binaries(const char *recording, const struct cli_keep *keep);

#endif
