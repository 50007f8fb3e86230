/* After a recording: copies its binaries into the build-id cache. */
#ifndef TALLY_CLI_KEEP_BINARIES_H
#define TALLY_CLI_KEEP_BINARIES_H

#include <stdbool.h>
#include <stddef.h>

struct tally_held_binary;

struct cli_keep {
	const char *folder; /* NULL: ~/.debug */
	bool all;           /* also binaries without samples */
	bool quiet, verbose;
	bool fetch; /* debug files from servers, too (--debuginfod) */
	bool no_copies;
	const struct tally_held_binary *held; /* of the recorder */
	size_t held_count;
};

/* Prints a line about what could not be copied; the recording is valid without it. */
void cli_keep_binaries(const char *recording, const struct cli_keep *keep);

#endif
