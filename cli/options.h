/* Options from tables: parsing, --help and completion come from the same rows.
 *
 *	const char *input = "perf.data";
 *	bool quiet = false;
 *	const struct cli_option options[] = {
 *		{CLI_STRING, 'i', "input", "FILE", "the recording", &input},
 *		{CLI_FLAG, 'q', "quiet", NULL, "say nothing but errors", &quiet},
 *		{.kind = CLI_END},
 *	};
 *	int at = cli_parse(&usage, options, argc, argv, &status);
 *
 *	if (at < 0)
 *		return status;
 *
 * Accepted: -q, -i FILE, -iFILE, -qi FILE, --input FILE, --input=FILE, --no-quiet, a unique
 * beginning of a long name, and -- as the end of options.  Every command has -h, --help and
 * --no-pager without a row. */
#ifndef TALLY_CLI_OPTIONS_H
#define TALLY_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/error.h>
#include "rules.h"

enum cli_kind {
	CLI_END,   /* the last row */
	CLI_GROUP, /* a heading in --help: `help` */
	CLI_FLAG,  /* bool *; --no-NAME makes it false (and --NAME does for a NAME written "no-...")
		    */
	CLI_COUNT, /* unsigned *; one more each time */
	CLI_STRING, /* const char **; borrowed from argv; --no-NAME makes it NULL */
	CLI_U64,    /* uint64_t *; decimal or 0x */
	CLI_DOUBLE, /* double *; finite */
	CLI_LIST,   /* struct cli_list *; "a,b"; several options add up */
	CLI_CALL,   /* `call` is given `to` */
	CLI_SET, /* int *, or an enum: becomes `number`; --no-NAME makes it 0; of several rows with
		  * the same `to` the last one on the command line counts */
};

/* How an option's value is asked for, beside its kind. */
#define CLI_OPTIONAL \
	1u          /* the value may be missing: the next argument is one unless it starts with - */
#define CLI_BARE 2u /* CLI_CALL without a value */
#define CLI_HIDDEN                                                                    \
	4u /* not in --help, completion and man page: a spelling kept for perf's sake \
	    */
#define CLI_ATTACHED                                                                               \
	16u /* with CLI_OPTIONAL: the next argument is never its value, only -zVALUE, --name=VALUE \
	     */
#define CLI_WHOLE 8u /* CLI_LIST: one item an option, commas have no meaning */

/* `value` is NULL when none was given; `on` is false for --no-NAME.  0, or -errno with error->text
 * saying what was expected. */
typedef int (*cli_call)(void *to, const char *value, bool on, struct tally_error *error);

/* For a cli_call: fills the error with what was expected; returns -EINVAL. */
int cli_refuse(struct tally_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct cli_option {
	enum cli_kind kind;
	char letter;       /* 0: none */
	const char *name;  /* long name, NULL: none */
	const char *value; /* what the value is, for people: "FILE" */
	const char *help;  /* starts small, no full stop */
	void *to;
	unsigned flags;
	cli_call call;
	const char *with_value; /* CLI_FLAG: the long option that takes the value which people write
				 * behind this one */
	int number;             /* CLI_SET */
};

struct cli_usage {
	const char *command;      /* "record" */
	const char *const *forms; /* what follows `tally record`, a line each; NULL-terminated */
	const char *about;        /* a paragraph */
	/* Options may follow other arguments, which then stand together at the end of argv, in
	 * order; without it the first argument that is no option ends the options, as a command to
	 * run needs. */
	bool mixed;
	const struct cli_rule *rules; /* which options exclude or need each other; NULL: none */
	const char *subcommand; /* an argument that may stand before or among the options: "record";
				 * not with `mixed`; NULL: none */
	struct cli_given *given; /* filled by cli_parse(); NULL: nobody asks */
};

/* Items are the caller's until cli_list_done(). */
struct cli_list {
	char **items;
	size_t count;
};
void cli_list_done(struct cli_list *list);

/* Returns the index in argv of the first argument that is no option; or -1 when the command is
 * over, with its exit status in *ret_status: help was asked for and printed, or an error was said.
 */
int cli_parse(const struct cli_usage *usage, const struct cli_option *options, int argc,
	      char **argv, int *ret_status);

/* Says a mistake in what was typed and where help is; returns CLI_USAGE. */
int cli_usage_error(const struct cli_usage *usage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
