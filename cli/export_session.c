#include "export_session.h"

#include <tally/export.h>
#include "command.h"
#include "damage_notice.h"
#include "debuginfod.h"
#include "interrupt.h"
#include "say.h"

/* Once the recording is open. */
static int open_session(const struct cli_export_session *options, struct tally_data *data,
			struct tally_session_options *session_options, struct tally_session **ret)
{
	struct tally_error error = {0};
	int status = CLI_OK;

	cli_binaries_fit(options->binaries, data, session_options);
	if (options->choice)
		status = cli_choice_fit(options->command, options->choice, data);
	if (!status && tally_session_new(data, session_options, ret, &error))
		status = cli_interrupted() ? CLI_FAILED : cli_say_error(options->command, &error);
	if (!status && options->strict && cli_refuse_damage(options->command, data))
		status = CLI_FAILED;
	if (!status)
		cli_debuginfod_fetch(options->command, options->binaries->debuginfod, *ret,
				     session_options->places);
	return status;
}

int cli_export_session(const struct cli_export_session *options, cli_export_fn export,
		       void *context)
{
	struct cli_progress progress;
	struct tally_session_options session_options = {.size = sizeof(session_options),
							.progress = options->progress,
							.progress_context = &progress};
	int status = cli_binaries_apply(options->command, options->binaries, &session_options);
	struct tally_session *session = NULL;
	struct tally_data *data = NULL;
	struct tally_error error = {0};

	if (status)
		return status;
	tally_export_session_options(options->format, &session_options);
	cli_progress_start(&progress, "Reading the recording");
	if (cli_data_open(options->input, options->max_expand, &data, &error))
		status = cli_say_error(options->command, &error);
	else
		status = open_session(options, data, &session_options, &session);
	if (!status)
		status = export(context, data, session, &progress);
	if (!status)
		status = cli_report_damage(options->command, data);
	cli_progress_done(&progress);
	tally_session_free(session);
	if (data)
		tally_data_close(data);
	return status;
}
