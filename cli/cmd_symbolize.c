/* `tally symbolize`: names for the tables of a fleet that were exported without. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <tally/symbolize.h>
#include <tally/text.h>
#include "binaries.h"
#include "command.h"
#include "interrupt.h"
#include "options.h"
#include "progress.h"
#include "say.h"

#define NAME "symbolize"

struct symbolize {
	const char *folder;
	struct cli_binaries binaries;
	bool no_lines, quiet;
};

const struct cli_setting cmd_symbolize_settings[] = {
    {"buildid.dir", "--buildid-dir", CLI_SETTING_TEXT,
     offsetof(struct symbolize, binaries.usual_dir),
     .room = sizeof(((struct symbolize *)0)->binaries.usual_dir)},
    {.key = NULL},
};

static void print_text(const char *text)
{
	char line[1024];

	tally_text_escape(text, line, sizeof(line));
	fputs(line, stdout);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* A line for each binary whose functions were not all found. */
static void print_lacks(const struct tally_symbolizer *symbolizer)
{
	struct tally_symbolizer_build build = {.size = sizeof(build)};

	for (size_t i = 0; !tally_symbolizer_build(symbolizer, i, &build); i++) {
		if (build.named == build.frames)
			continue;
		printf("%s ", build.build_id);
		print_text(build.path);
		printf(": %" PRIu64 " of %" PRIu64 " frame%s without a name",
		       build.frames - build.named, build.frames, plural(build.frames));
		if (build.why) {
			fputs(": ", stdout);
			print_text(build.why);
		}
		putchar('\n');
	}
}

static void print_result(const struct symbolize *symbolize,
			 const struct tally_symbolizer *symbolizer,
			 const struct tally_symbolizer_result *result)
{
	if (!result->nameless)
		printf("%" PRIu64 " table%s of stacks: no frame of a binary lacks a name\n",
		       result->tables, plural(result->tables));
	else
		printf("%" PRIu64 " of %" PRIu64 " frames named, in %" PRIu64 " of %" PRIu64
		       " table%s of stacks\n",
		       result->named, result->nameless, result->written, result->tables,
		       plural(result->tables));
	if (!symbolize->quiet)
		print_lacks(symbolizer);
}

static int run(const struct symbolize *symbolize)
{
	struct cli_progress progress;
	struct tally_session_options options = {.size = sizeof(options),
						.progress = cli_progress_update,
						.progress_context = &progress};
	struct tally_symbolizer_result result = {.size = sizeof(result)};
	int status = cli_binaries_apply(NAME, &symbolize->binaries, &options), code;
	struct tally_symbolizer *symbolizer = NULL;
	struct tally_session *session = NULL;
	struct tally_error error = {0};
	sigset_t before;

	if (status)
		return status;
	tally_symbolizer_session_options(&options);
	cli_progress_start(&progress, "Looking up functions");
	cli_interrupt_hold(&before); /* Ctrl-C removes the incomplete file */
	code = tally_symbolizer_open(symbolize->folder, &symbolizer, &error);
	if (!code && tally_symbolizer_data(symbolizer)) {
		code = tally_session_new(tally_symbolizer_data(symbolizer), &options, &session,
					 &error);
		if (!code)
			cli_debuginfod_fetch_all(NAME, symbolize->binaries.debuginfod, session,
						 !symbolize->no_lines);
	}
	if (!code)
		code = tally_symbolizer_write(symbolizer, session, symbolize->no_lines, &result,
					      &error);
	cli_progress_done(&progress);
	cli_interrupt_release(&before);
	if (!code)
		print_result(symbolize, symbolizer, &result);
	else if (code == -ECANCELED && !error.code)
		status = CLI_FAILED;
	else
		status = cli_say_error(NAME, &error);
	tally_session_free(session);
	tally_symbolizer_close(symbolizer);
	return status;
}

int cmd_symbolize(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS] DIR", NULL};
	const struct cli_usage usage = {
	    .command = NAME,
	    .forms = forms,
	    .about = "Adds functions, files and lines to the tables in a folder that `tally "
		     "export --to parquet --no-symbols` wrote. Each binary is looked up once, by "
		     "its build-id.",
	    .mixed = true,
	};
	struct symbolize symbolize = {.binaries.inlines = CLI_INLINE_ALL};
	const struct cli_option options[] = {
	    {CLI_GROUP, .help = "What is added"},
	    {CLI_FLAG, 0, "no-lines", NULL, "do not look up source lines",
	     .to = &symbolize.no_lines},
	    {CLI_SET, 0, "inline", NULL, "add functions that were inlined (default)",
	     .to = &symbolize.binaries.inlines, .number = CLI_INLINE_ALL},
	    CLI_NO_DEMANGLE(symbolize.binaries),
	    {CLI_FLAG, 'q', "quiet", NULL, "do not list the binaries that were not found",
	     .to = &symbolize.quiet},
	    {CLI_GROUP, .help = "Where binaries are"},
	    CLI_BINARIES_FOLDERS(symbolize.binaries),
	    {.kind = CLI_END},
	};
	int status = cli_settings_apply(NAME, cmd_symbolize_settings, &symbolize);
	int at = status ? -1 : cli_parse(&usage, options, argc, argv, &status);

	if (at >= 0 && at + 1 == argc)
		symbolize.folder = argv[at];
	else if (at >= 0)
		status = cli_usage_error(&usage, at == argc ? "which folder? Write its path"
							    : "there is more than one folder");
	if (at >= 0 && !status)
		status = run(&symbolize);
	cli_binaries_done(&symbolize.binaries);
	return status;
}
