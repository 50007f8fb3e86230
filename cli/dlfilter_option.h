/* Filters in shared objects: the options of all commands that show samples, and what happens when a
 * filter crashes or does not return. */
#ifndef TALLY_CLI_DLFILTER_OPTION_H
#define TALLY_CLI_DLFILTER_OPTION_H

#include <tally/dlfilter.h>
#include "options.h"

struct cli_dlfilter_choice {
	const char *name; /* NULL: none yet; the arguments are for the first filter */
	struct cli_list args;
};

struct cli_dlfilters { /* all zero: no filters */
	struct cli_dlfilter_choice *choices;
	size_t count;
	bool list;
	unsigned verbose,
	    list_verbose; /* -v, and how many of them were given before --list-dlfilters */
	struct tally_dlfilters *filters;
	const char *command;
};

/* Rows of an option table; the option -v of the command counts in .verbose. */
#define CLI_DLFILTERS(to_filters)                                                           \
	{CLI_CALL,                                                                          \
	 0,                                                                                 \
	 "dlfilter",                                                                        \
	 "FILE",                                                                            \
	 "only samples that this shared object keeps; several are called in order",         \
	 .to = &(to_filters),                                                               \
	 .flags = CLI_EMPTY,                                                                \
	 .call = cli_dlfilters_take},                                                       \
	    {CLI_CALL,                                                                      \
	     0,                                                                             \
	     "dlarg",                                                                       \
	     "TEXT",                                                                        \
	     "an argument for the --dlfilter before it",                                    \
	     .to = &(to_filters),                                                           \
	     .flags = CLI_EMPTY,                                                            \
	     .call = cli_dlfilters_take_arg},                                               \
	{                                                                                   \
		CLI_CALL, 0, "list-dlfilters", NULL,                                        \
		    "list the filters that are found, with -v before it "                   \
		    "their full descriptions",                                              \
		    .to = &(to_filters), .flags = CLI_BARE, .call = cli_dlfilters_take_list \
	}

int cli_dlfilters_take(void *to, const char *value, bool on, struct tally_error *error);
int cli_dlfilters_take_arg(void *to, const char *value, bool on, struct tally_error *error);
int cli_dlfilters_take_list(void *to, const char *value, bool on, struct tally_error *error);

/* Does what --list-dlfilters asks for. */
void cli_dlfilters_list(const struct cli_dlfilters *filters);

/* Loads them, before the recording is opened.  0, or the exit status after having printed which one
 * cannot be loaded. */
int cli_dlfilters_load(const char *command, struct cli_dlfilters *filters);
/* Starts them on a session.  0, or the exit status: what start() gave. */
int cli_dlfilters_start(struct cli_dlfilters *filters, struct tally_session *session,
			bool kernel_path);
/* Stops those that were started; returns the exit status of the filter that stopped the reading,
 * else `status`. */
int cli_dlfilters_stop(struct cli_dlfilters *filters, int status);
/* Does not return after Ctrl-C. */
void cli_dlfilters_done(struct cli_dlfilters *filters);

/* Whether a signal asked to end while filters are loaded; for callbacks that report progress. */
bool cli_dlfilters_interrupted(void);

#endif
