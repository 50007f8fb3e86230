/* Fetching debug files from servers before a report: --debuginfod. */
#ifndef TALLY_CLI_DEBUGINFOD_H
#define TALLY_CLI_DEBUGINFOD_H

#include <stdbool.h>
#include <tally/session.h>
#include "options.h"

enum cli_debuginfod {
	CLI_DEBUGINFOD_IF_SET, /* when DEBUGINFOD_URLS is */
	CLI_DEBUGINFOD_ASKED,
	CLI_DEBUGINFOD_NEVER,
};

/* A row of an option table; `to_kind` is an enum cli_debuginfod. */
#define CLI_DEBUGINFOD(to_kind)                                                                \
	{                                                                                      \
		CLI_CALL, 0, "debuginfod", "URLS",                                             \
		    "fetch debug files from these servers; default: those of DEBUGINFOD_URLS", \
		    .to = &(to_kind), .flags = CLI_OPTIONAL | CLI_ATTACHED,                    \
		    .call = cli_debuginfod_take                                                \
	}
int cli_debuginfod_take(void *to, const char *value, bool on, struct tally_error *error);

/* Fetches what binaries with many samples lack, with progress on a terminal.  What fails is said in
 * one line, and the session is used without.  `lines`: source lines or inlined functions will be
 * asked for.  Call it when the session is new. */
void cli_debuginfod_fetch(const char *command, enum cli_debuginfod kind,
			  struct tally_session *session, bool lines);
/* The same of all binaries with samples. */
void cli_debuginfod_fetch_all(const char *command, enum cli_debuginfod kind,
			      struct tally_session *session, bool lines);

#endif
