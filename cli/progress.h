/* "Reading 42 %", or "Reading 42 MB" when the size is unknown, on stderr when it is a terminal,
 * after a job has taken a second; else nothing. */
#ifndef TALLY_CLI_PROGRESS_H
#define TALLY_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/data.h>

struct cli_progress {
	const char *what;     /* "Reading perf.data" */
	uint64_t start, last; /* ns, CLOCK_MONOTONIC */
	bool terminal, shown;
};

void cli_progress_start(struct cli_progress *progress, const char *what);
/* Fits struct tally_session_options.progress; `context` is the struct cli_progress.  Returns 0,
 * or 1 when a signal that is held (interrupt.h) asks to end.  Safe from one thread at a time. */
int cli_progress_update(void *context, uint64_t done, uint64_t total);
/* tally_data_open() that shows how much was read from a pipe so far. `expand_mb`: the value of
 * --max-expand, 0 without it. */
int cli_data_open(const char *path, uint64_t expand_mb, struct tally_data **ret,
		  struct tally_error *error);
/* Removes the line. */
void cli_progress_done(struct cli_progress *progress);

#endif
