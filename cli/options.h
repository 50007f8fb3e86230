/* Options from tables: parsing, --help and completion come from the same rows.
 *
 *	const char *input = "perf.data";
 *	bool quiet = false;
 *	const struct cli_option options[] = {
 *		{CLI_STRING, 'i', "input", "FILE", "the recording", &input},
 *		{CLI_FLAG, 'q', "quiet", NULL, "print only errors", &quiet},
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
	CLI_GROUP, /* a heading in --help: `help` is its text */
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

/* Flags of an option. */
#define CLI_OPTIONAL \
	1u /* the value may be missing: the next argument is the value unless it starts with - */
#define CLI_BARE 2u /* CLI_CALL without a value */
#define CLI_HIDDEN                                                                 \
	4u /* not in --help, completion and man page: accepted because perf has it \
	    */
#define CLI_ATTACHED                                                                          \
	16u /* with CLI_OPTIONAL: the next argument is not its value (but see `ending`), only \
	     * -zVALUE, --name=VALUE */
#define CLI_EMPTY 32u /* the value may be "", which is refused otherwise */
#define CLI_WHOLE 8u  /* CLI_LIST: each option gives one item, commas are part of it */

/* `value` is NULL when none was given; `on` is false for --no-NAME. Returns 0, or -errno with what
 * was expected in error->text. */
typedef int (*cli_call)(void *to, const char *value, bool on, struct tally_error *error);

typedef const char *(*cli_word)(size_t index, const char **ret_help);

/* For a cli_call: "unknown WHAT 'TEXT'; did you mean ...?", or "...; valid are ..." where no word
 * is similar; returns -EINVAL. */
int cli_refuse_word(struct tally_error *error, const char *text, size_t length, const char *what,
		    cli_word word);
/* The same of words that end with NULL. */
int cli_refuse_listed(struct tally_error *error, const char *text, size_t length, const char *what,
		      const char *const *words);
/* The place of the value among such words, or what cli_refuse_listed() returns. */
int cli_choose(struct tally_error *error, const char *value, const char *what,
	       const char *const *words);

/* For a cli_call: puts what was expected into the error; returns -EINVAL. */
int cli_refuse(struct tally_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct cli_option {
	enum cli_kind kind;
	char letter;       /* 0: none */
	const char *name;  /* long name, NULL: none */
	const char *value; /* the kind of value, for people: "FILE" */
	const char *help;  /* starts with a small letter, no full stop */
	void *to;
	unsigned flags;
	cli_call call;
	const char *with_value; /* CLI_FLAG: the long option that takes the value that people write
				   after this one by mistake */
	int number;             /* CLI_SET */
	const char *ending; /* with CLI_ATTACHED: a next argument that ends with it is the value */
	/* The words that a value is made of: word number `index`, and what it is; NULL behind the
	 * last one.  "{}" in `help` stands for the list of them; --list-words prints them for
	 * completion and manual pages.  NULL: any value. */
	cli_word word;
};

struct cli_usage {
	const char *command; /* "record" */
	const char *const
	    *forms;        /* what follows `tally record`, one form per line; NULL-terminated */
	const char *about; /* a paragraph */
	/* Options may follow other arguments, which cli_parse() moves to the end of argv, in order.
	 * Without it the first argument that is not an option ends the options, as needed for a
	 * command to run. */
	bool mixed;
	const struct cli_rule *rules; /* which options exclude or need each other; NULL: none */
	const char *subcommand; /* an argument that may stand before or among the options: "record";
				 * not with `mixed`; NULL: none */
	struct cli_given *given; /* filled by cli_parse(); NULL: not needed */
};

/* Items are owned by the caller until cli_list_done(). */
struct cli_list {
	char **items;
	size_t count;
};
void cli_list_done(struct cli_list *list);
/* Adds a copy of so many bytes of a text, or of all of it if it is shorter.  0 or -ENOMEM. */
int cli_list_add(struct cli_list *list, const char *item, size_t length);

/* Returns the index in argv of the first argument that is not an option; or -1 when the command is
 * done, with its exit status in *ret_status: help or an error was printed.
 */
int cli_parse(const struct cli_usage *usage, const struct cli_option *options, int argc,
	      char **argv, int *ret_status);

/* Prints a mistake in the arguments, and how to get help; returns CLI_USAGE. */
int cli_usage_error(const struct cli_usage *usage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
