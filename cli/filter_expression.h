/* --filter: an expression that chooses samples, in all commands that show them. */
#ifndef TALLY_CLI_FILTER_EXPRESSION_H
#define TALLY_CLI_FILTER_EXPRESSION_H

#include <tally/choice.h>
#include "options.h"

struct cli_choice { /* all zero: no filter */
	const char *text;
	struct tally_choice *choice;
};

#define CLI_CHOICE(to_choice)                                                               \
	{                                                                                   \
		CLI_STRING, 0, "filter", "EXPRESSION",                                      \
		    "only samples for which it is true: 'comm == make and stack has open'", \
		    .to = &(to_choice).text                                                 \
	}

/* Parses it, before anything is read. 0, or CLI_USAGE after having printed what is wrong. */
int cli_choice_parse(const char *command, struct cli_choice *choice);
/* Checks it against the events of the opened recording.  0, or CLI_USAGE. */
int cli_choice_fit(const char *command, struct cli_choice *choice, struct tally_data *data);
/* 0, or CLI_FAILED after having printed why. */
int cli_choice_use(const char *command, struct cli_choice *choice, struct tally_session *session);
/* To be called after the session is freed. */
void cli_choice_done(struct cli_choice *choice);

#endif
