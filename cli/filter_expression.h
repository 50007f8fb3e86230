/* --filter: an expression that chooses samples, in all commands that show them. */
#ifndef TALLY_CLI_FILTER_EXPRESSION_H
#define TALLY_CLI_FILTER_EXPRESSION_H

#include <tally/choice.h>
#include "options.h"

struct cli_choice { /* all zero is none */
	const char *text;
	struct tally_choice *choice;
};

#define CLI_CHOICE(to_choice)                                                               \
	{                                                                                   \
		CLI_STRING, 0, "filter", "EXPRESSION",                                      \
		    "only samples that it holds for, as 'comm == make and stack has open'", \
		    .to = &(to_choice).text                                                 \
	}

/* Reads it, before anything else is.  0, or CLI_USAGE after having said what is wrong with it. */
int cli_choice_parse(const char *command, struct cli_choice *choice);
/* Fits it to a recording that was opened.  0, or CLI_USAGE. */
int cli_choice_fit(const char *command, struct cli_choice *choice, struct tally_data *data);
/* 0, or CLI_FAILED after having said why. */
int cli_choice_use(const char *command, struct cli_choice *choice, struct tally_session *session);
/* Behind the session. */
void cli_choice_done(struct cli_choice *choice);

#endif
