#include "filter_expression.h"

#include <errno.h>
#include "command.h"
#include "say.h"

static int wrong(const char *command, const struct cli_choice *choice,
		 const struct tally_error *error)
{
	cli_say_wrong(command, choice->text, error);
	return error->code == -EINVAL ? CLI_USAGE : CLI_FAILED;
}

int cli_choice_parse(const char *command, struct cli_choice *choice)
{
	struct tally_error error = {0};

	if (!choice->text || !tally_choice_parse(choice->text, &choice->choice, &error))
		return CLI_OK;
	return wrong(command, choice, &error);
}

int cli_choice_fit(const char *command, struct cli_choice *choice, struct tally_data *data)
{
	struct tally_error error = {0};

	if (!choice->choice || !tally_choice_fit(choice->choice, data, &error))
		return CLI_OK;
	return wrong(command, choice, &error);
}

int cli_choice_use(const char *command, struct cli_choice *choice, struct tally_session *session)
{
	if (!choice->choice || !tally_choice_use(choice->choice, session))
		return CLI_OK;
	cli_say(command, "--filter: out of memory");
	return CLI_FAILED;
}

void cli_choice_done(struct cli_choice *choice)
{
	tally_choice_free(choice->choice);
	choice->choice = NULL;
}
