/* `tally archive`: a recording and what is needed to read it elsewhere, in one file. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/archive.h>
#include "binaries.h"
#include "command.h"
#include "interrupt.h"
#include "options.h"
#include "progress.h"
#include "recording.h"
#include "say.h"

#define NAME "archive"

struct archive {
	const char *input, *output;
	struct cli_binaries binaries;
	bool whole, force;
	uint64_t max_expand;
};

const struct cli_setting cmd_archive_settings[] = {
    {"buildid.dir", "--buildid-dir", CLI_SETTING_TEXT, offsetof(struct archive, binaries.usual_dir),
     .room = sizeof(((struct archive *)0)->binaries.usual_dir)},
    {.key = NULL},
};

/* "perf.data" becomes "perf.data.tar.zst"; a directory may be written with '/' at its end. */
static char *default_output(const char *input)
{
	int length = (int)strlen(input);
	char *output;

	if (!strcmp(input, "-")) {
		input = "perf.data";
		length = (int)strlen(input);
	}
	while (length > 1 && input[length - 1] == '/')
		length--;
	return asprintf(&output, "%.*s.tar%s", length, input,
			tally_archive_is_compressed() ? ".zst" : "") < 0
		   ? NULL
		   : output;
}

static int write_archive(const struct archive *archive, struct tally_session *session,
			 const char *output, struct tally_error *error)
{
	const struct tally_archive_options options = {
	    .size = sizeof(options), .binaries = archive->whole, .replace = archive->force};
	struct tally_archive_result result = {.size = sizeof(result)};
	int code = tally_archive_write(session, output, &options, &result, error);

	if (code)
		return code;
	cli_say(NAME, "%s: %.1f MB, the recording and %u files", output, (double)result.bytes / 1e6,
		result.files);
	if (result.missing)
		cli_say(NAME,
			"%u binar%s with samples %s not on this machine; `tally report -v` names "
			"them",
			result.missing, result.missing == 1 ? "y" : "ies",
			result.missing == 1 ? "is" : "are");
	return 0;
}

static int run(const struct archive *archive)
{
	struct cli_progress progress;
	struct tally_session_options options = {.size = sizeof(options),
						.progress = cli_progress_update,
						.progress_context = &progress,
						.functions = true};
	char *made = archive->output ? NULL : default_output(archive->input);
	const char *output = archive->output ? archive->output : made;
	int status = cli_binaries_apply(NAME, &archive->binaries, &options), code = 0;
	struct tally_session *session = NULL;
	struct tally_data *data = NULL;
	struct tally_error error = {0};
	sigset_t before;

	if (!status) {
		code = cli_data_open(archive->input, archive->max_expand, &data, &error);
		cli_progress_start(&progress, "Reading the recording");
		cli_interrupt_hold(&before); /* Ctrl-C removes the incomplete file */
		if (!code)
			code = tally_session_new(data, &options, &session, &error);
		if (!code)
			cli_debuginfod_fetch(NAME, archive->binaries.debuginfod, session, true);
		if (!code)
			code = write_archive(archive, session, output, &error);
		cli_progress_done(&progress);
		cli_interrupt_release(&before);
	}
	tally_session_free(session);
	if (data)
		tally_data_close(data);
	free(made);
	return code ? cli_say_error(NAME, &error) : status;
}

int cmd_archive(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS] [FILE]", NULL};
	const struct cli_usage usage = {
	    .command = NAME,
	    .forms = forms,
	    .about = "Packs a recording and what is needed to read it on another machine into one "
		     "file: symbols, source lines and unwinding tables of the binaries that have "
		     "samples, and the kernel's symbols. Every command that reads a recording "
		     "reads this file.",
	    .mixed = true,
	};
	struct archive archive = {.input = NULL, .binaries.inlines = CLI_INLINE_USUAL};
	const struct cli_option options[] = {
	    CLI_INPUT(archive.input),
	    {CLI_STRING, 'o', "output", "FILE", "the archive (default: INPUT.tar.zst)",
	     .to = &archive.output},
	    {CLI_FLAG, 0, "binaries", NULL, "put whole binaries in, with their code",
	     .to = &archive.whole},
	    {CLI_FLAG, 'f', "force", NULL, "replace the archive if it exists",
	     .to = &archive.force},
	    CLI_BINARIES_FILES(archive.binaries),
	    CLI_MAX_EXPAND(archive.max_expand),
	    {.kind = CLI_END},
	};
	int status = cli_settings_apply(NAME, cmd_archive_settings, &archive);
	int at = status ? -1 : cli_parse(&usage, options, argc, argv, &status);

	if (at >= 0)
		status = cli_recording_take(&usage, argc, argv, at, &archive.input);
	if (at >= 0 && !status)
		status = run(&archive);
	cli_binaries_done(&archive.binaries);
	return status;
}
