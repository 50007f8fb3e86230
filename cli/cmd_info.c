/* `tally info`: who recorded what, where, and what the recording contains. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tally/data.h>
#include <tally/header.h>
#include <tally/summary.h>
#include <unistd.h>
#include "command.h"
#include "damage_notice.h"
#include "options.h"
#include "pager.h"
#include "progress.h"
#include "recording.h"
#include "say.h"

struct info {
	const char *input;
	bool json, header_only, header, full, force, strict;
	uint64_t max_expand;
};

/* The header as perf prints it; for a stream also what perf prints for the records that follow. */
static int show_header(const struct info *info, const struct tally_data *data)
{
	unsigned flags =
	    (info->full ? TALLY_HEADER_FULL : 0) | (isatty(STDOUT_FILENO) ? 0 : TALLY_HEADER_RAW);
	struct cli_pager pager;
	int result;

	cli_pager_start(&pager);
	result = tally_header_text(data, flags, stdout);
	if (!result)
		result = tally_header_stream_text(data, flags, stdout);
	cli_pager_finish(&pager);
	return result;
}

static int show_info(const struct info *info, const struct tally_data *data,
		     const struct tally_summary *summary)
{
	struct cli_pager pager;
	int result;

	cli_pager_start(&pager);
	result = info->json ? tally_info_json(data, summary, stdout)
			    : tally_info_text(data, summary, stdout);
	cli_pager_finish(&pager);
	return result;
}

static int written(int result)
{
	if (!result || result == -EPIPE) /* the reader of the pipe has ended */
		return CLI_OK;
	cli_say("info", "it could not be written: %s", strerror(-result));
	return CLI_FAILED;
}

static int walk(const struct info *info, struct tally_data *data)
{
	struct tally_summary *summary;
	struct tally_error error = {0};
	struct cli_progress progress;
	struct tally_summary_options options = {
	    .size = sizeof(options),
	    .progress = cli_progress_update,
	    .progress_context = &progress,
	};
	int status;

	cli_progress_start(&progress, "Reading the recording");
	status = tally_summary_new(data, &options, &summary, &error);
	cli_progress_done(&progress);
	if (status)
		return cli_say_error("info", &error);
	if (info->strict && cli_refuse_damage("info", data)) {
		tally_summary_free(summary);
		return CLI_FAILED;
	}
	status = written(show_info(info, data, summary));
	tally_summary_free(summary);
	return status ? status : cli_report_damage("info", data);
}

static int run(const struct info *info)
{
	struct tally_data *data;
	struct tally_error error;
	int status;

	if (cli_data_open(info->input, info->max_expand, &data, &error))
		return cli_say_error("info", &error);
	if (info->header)
		status = written(show_header(info, data));
	else if (info->header_only)
		status = written(show_info(info, data, NULL));
	else
		status = walk(info, data);
	tally_data_close(data);
	return status;
}

static const struct cli_rule rules[] = {
    {"--json,--header", CLI_ONE_OF, NULL,
     "--header prints text, and --json prints all of it as well"},
    {"--header", CLI_EXCLUDES, "--header-only", "it prints the header as perf script does"},
    {"-I", CLI_NEEDS, "--header", "it adds lines to the header"},
    {NULL},
};

int cmd_info(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS]", "[OPTIONS] FILE", NULL};
	const struct cli_usage usage = {
	    .command = "info",
	    .forms = forms,
	    .about = "Shows who recorded what, where and how, what the recording contains, and "
		     "what was lost.",
	    .mixed = true,
	    .rules = rules,
	};
	struct info info = {.input = NULL};
	const struct cli_option options[] = {
	    CLI_INPUT(info.input),
	    CLI_STRICT(info.strict),
	    CLI_MAX_EXPAND(info.max_expand),
	    {CLI_FLAG, 'f', "force", NULL, "", .to = &info.force, .flags = CLI_HIDDEN},
	    {CLI_FLAG, 0, "json", NULL, "JSON, with everything in the header", .to = &info.json},
	    {CLI_FLAG, 0, "header-only", NULL, "only the header: records are not read",
	     .to = &info.header_only},
	    {CLI_FLAG, 0, "header", NULL, "the header's text, as of perf script --header-only",
	     .to = &info.header},
	    {CLI_FLAG, 'I', "full", NULL, "with --header: also topology, caches and memory",
	     .to = &info.full},
	    {.kind = CLI_END},
	};
	int status, at = cli_parse(&usage, options, argc, argv, &status);

	if (at < 0)
		return status;
	status = cli_recording_take(&usage, argc, argv, at, &info.input);
	return status ? status : run(&info);
}
