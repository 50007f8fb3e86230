/* Filters in shared objects: the options of all commands that show samples, and what happens when a
 * filter crashes or does not return. */
#ifndef TALLY_CLI_DLFILTER_OPTION_H
#define TALLY_CLI_DLFILTER_OPTION_H

#include <tally/dlfilter.h>
#include "options.h"

struct cli_dlfilter_choice {
	const char *name; /* NULL: none yet; its arguments are the first filter's */
	struct cli_list args;
};

struct cli_dlfilters { /* all zero is none */
	struct cli_dlfilter_choice *choices;
	size_t count;
	bool list;
	unsigned verbose, list_verbose; /* -v, and how often it stood before --list-dlfilters */
	struct tally_dlfilters *filters;
	const char *command;
};

/* Rows of an option table; the -v of these options is to count in .verbose. */
#define CLI_DLFILTERS(to_filters)                                                           \
	{CLI_CALL,                                                                          \
	 0,                                                                                 \
	 "dlfilter",                                                                        \
	 "FILE",                                                                            \
	 "only samples that this shared object keeps; several are asked in order",          \
	 .to = &(to_filters),                                                               \
	 .call = cli_dlfilters_take},                                                       \
	    {CLI_CALL,                                                                      \
	     0,                                                                             \
	     "dlarg",                                                                       \
	     "TEXT",                                                                        \
	     "an argument for the --dlfilter before it",                                    \
	     .to = &(to_filters),                                                           \
	     .call = cli_dlfilters_take_arg},                                               \
	{                                                                                   \
		CLI_CALL, 0, "list-dlfilters", NULL,                                        \
		    "the filters that are found, with -v before it "                        \
		    "all that they say of themselves",                                      \
		    .to = &(to_filters), .flags = CLI_BARE, .call = cli_dlfilters_take_list \
	}

int cli_dlfilters_take(void *to, const char *value, bool on, struct tally_error *error);
int cli_dlfilters_take_arg(void *to, const char *value, bool on, struct tally_error *error);
int cli_dlfilters_take_list(void *to, const char *value, bool on, struct tally_error *error);

/* The answer to --list-dlfilters. */
void cli_dlfilters_list(const struct cli_dlfilters *filters);

/* Loads them, before the recording is opened.  0, or the exit status after having said which cannot
 * be. */
int cli_dlfilters_load(const char *command, struct cli_dlfilters *filters);
/* Starts them on a session.  0, or the exit status: what start() gave. */
int cli_dlfilters_start(struct cli_dlfilters *filters, struct tally_session *session,
			bool kernel_path);
/* Stops those that were started; the exit status: that of the filter that ended the reading, else
 * `status`. */
int cli_dlfilters_stop(struct cli_dlfilters *filters, int status);
/* Does not return when Ctrl-C ended it. */
void cli_dlfilters_done(struct cli_dlfilters *filters);

/* Whether a signal asks to end while filters are loaded: for what tells progress. */
bool cli_dlfilters_interrupted(void);

#endif
