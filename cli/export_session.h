/* The session of a recording that is exported: `tally export` and `tally push`. */
#ifndef TALLY_CLI_EXPORT_SESSION_H
#define TALLY_CLI_EXPORT_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/session.h>
#include "binaries.h"
#include "filter_expression.h"
#include "progress.h"

struct cli_export_session {
	const char *command, *format, *input;
	uint64_t max_expand;
	bool strict;
	const struct cli_binaries *binaries;
	struct cli_choice *choice; /* NULL: none */
	/* As cli_progress_update(), which it calls. */
	int (*progress)(void *context, uint64_t done, uint64_t total);
};

/* Exports the session; an exit status. */
typedef int (*cli_export_fn)(void *context, struct tally_data *data, struct tally_session *session,
			     struct cli_progress *progress);

/* Opens the recording and a session for the format, calls `export` with them, and prints what is
 * damaged.  Signals are held (interrupt.h) by the caller.  An exit status. */
int cli_export_session(const struct cli_export_session *options, cli_export_fn export,
		       void *context);

#endif
