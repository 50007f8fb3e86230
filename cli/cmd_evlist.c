/* `tally evlist`: the events of a recording. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tally/data.h>
#include <tally/evlist.h>
#include <unistd.h>
#include "command.h"
#include "options.h"
#include "pager.h"
#include "progress.h"
#include "recording.h"
#include "say.h"

struct evlist {
	const char *input;
	bool verbose, freq, group, trace_fields, json, force;
	uint64_t max_expand;
};

static int show(const struct evlist *evlist, const struct tally_data *data)
{
	struct tally_evlist_options options = {
	    .size = sizeof(options),
	    .verbose = evlist->verbose,
	    .freq = evlist->freq,
	    .group = evlist->group,
	    .trace_fields = evlist->trace_fields,
	    .raw_text = !isatty(STDOUT_FILENO),
	};
	struct cli_pager pager;
	int result;

	cli_pager_start(&pager);
	result = evlist->json ? tally_evlist_json(data, stdout)
			      : tally_evlist_text(data, &options, stdout);
	cli_pager_finish(&pager);
	if (!result || result == -EPIPE) /* the reader of the pipe has ended */
		return CLI_OK;
	cli_say("evlist", "the events could not be written: %s", strerror(-result));
	return CLI_FAILED;
}

static int run(const struct evlist *evlist)
{
	struct tally_data *data;
	struct tally_error error;
	int status;

	if (cli_data_open(evlist->input, evlist->max_expand, &data, &error))
		return cli_say_error("evlist", &error);
	status = show(evlist, data);
	tally_data_close(data);
	return status;
}

static const struct cli_rule rules[] = {
    {"-g", CLI_EXCLUDES, "-v,-F", "groups are printed by names alone"},
    {NULL},
};

int cmd_evlist(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS]", "[OPTIONS] FILE", NULL};
	const struct cli_usage usage = {
	    .command = "evlist",
	    .forms = forms,
	    .about = "Lists the events of a recording, one per line, as perf evlist does.",
	    .mixed = true,
	    .rules = rules,
	};
	struct evlist evlist = {.input = NULL};
	const struct cli_option options[] = {
	    CLI_INPUT(evlist.input),
	    CLI_MAX_EXPAND(evlist.max_expand),
	    {CLI_FLAG, 'f', "force", NULL, "", .to = &evlist.force, .flags = CLI_HIDDEN},
	    {CLI_FLAG, 'v', "verbose", NULL, "all attributes of each event", .to = &evlist.verbose},
	    {CLI_FLAG, 'F', "freq", NULL, "the frequency or period of samples", .to = &evlist.freq},
	    {CLI_FLAG, 'g', "group", NULL, "groups in braces", .to = &evlist.group},
	    {CLI_FLAG, 0, "trace-fields", NULL, "the fields of tracepoints",
	     .to = &evlist.trace_fields},
	    {CLI_FLAG, 0, "json", NULL, "JSON, with all of these", .to = &evlist.json},
	    {.kind = CLI_END},
	};
	int status, at = cli_parse(&usage, options, argc, argv, &status);

	if (at < 0)
		return status;
	status = cli_recording_take(&usage, argc, argv, at, &evlist.input);
	return status ? status : run(&evlist);
}
