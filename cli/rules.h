/* Options that exclude or need each other, as rows of a table:
 *
 *	const struct cli_rule rules[] = {
 *		{"-x,-j,--json", CLI_ONE_OF, NULL, "they are formats"},
 *		{"--compare", CLI_EXCLUDES, "-a,-p", "it counts its own commands"},
 *		{"--table", CLI_NEEDS, "-r", "it shows the time of each run"},
 *		{NULL},
 *	};
 *
 * cli_parse() checks the rows of usage->rules and prints the message; --list-rules prints them:
 * `make lint` checks the manual page by it, and tests/cli/rules.bats tries each row. */
#ifndef TALLY_CLI_RULES_H
#define TALLY_CLI_RULES_H

#include <stdbool.h>
#include <stdint.h>

struct cli_option;
struct cli_usage;

enum cli_relation {
	CLI_ONE_OF,   /* at most one of `options` */
	CLI_EXCLUDES, /* each of `options` excludes each of `others` */
	CLI_NEEDS,    /* each of `options` needs one of `others` */
};

/* Options are written as people write them: "-x", or "--json" where there is no letter, with commas
 * between them.  A name without a dash stands for arguments: COMMAND for any, another one for the
 * subcommand of the usage. */
struct cli_rule {
	const char *options; /* NULL: the last row */
	enum cli_relation relation;
	const char *others;
	const char *why;
	const char *with; /* the row applies only together with one of these; NULL: always */
};

#define CLI_OPTIONS_MOST 256

/* What was on the command line. */
struct cli_given {
	uint64_t rows[CLI_OPTIONS_MOST / 64]; /* of the option table: a bit each */
	bool command, subcommand;
	/* Name of the last option, if it could have had a value: the next argument is none.  NULL:
	 * not so, or the option has no long name. */
	const char *valueless;
};

/* The first of `names` that was given; *ret_length: its length.  NULL: none. */
const char *cli_given_first(const struct cli_usage *usage, const struct cli_option *options,
			    const struct cli_given *given, const char *names, int *ret_length);

/* 0, or CLI_USAGE after having printed the first rule that is broken. */
int cli_rules_check(const struct cli_usage *usage, const struct cli_option *options,
		    const struct cli_given *given);

/* A line each: relation, options, others, with, why, with tabs between them; "-" for none. */
void cli_rules_list(const struct cli_rule *rules);

#endif
