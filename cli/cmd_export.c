/* `tally export`: a recording in the formats of other programs. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/export.h>
#include <tally/text.h>
#include <unistd.h>
#include "binaries.h"
#include "command.h"
#include "dlfilter_option.h"
#include "export_session.h"
#include "filter_expression.h"
#include "filter_lists.h"
#include "interrupt.h"
#include "progress.h"
#include "recording.h"
#include "say.h"
#include "unmatched.h"

#define NAME "export"

/* What --with asks for. */
struct additions {
	bool pid, tid, kernel, jit;
};

struct export
{
	const char *input, *output, *format, *time, *cpus, *service, *release, *host;
	uint32_t *cpu_numbers; /* of `cpus` */
	size_t cpu_count;
	struct cli_binaries binaries;
	struct cli_filter filter;
	struct cli_list events;
	struct cli_choice choice;
	struct cli_dlfilters dlfilters;
	struct additions with;
	uint64_t max_stack, max_expand;
	bool force, strict, evented, no_lines, no_symbols;
};

const struct cli_setting cmd_export_settings[] = {
    {"buildid.dir", "--buildid-dir", CLI_SETTING_TEXT, offsetof(struct export, binaries.usual_dir),
     .room = CLI_BUILD_ID_DIR},
    {.key = NULL},
};

static int take_format(void *to, const char *value, bool on, struct tally_error *error)
{
	const char *name;

	*(const char **)to = NULL;
	for (size_t i = 0; on && (name = tally_export_format_name(i, NULL)); i++)
		if (!strcmp(name, value))
			*(const char **)to = name;
	return !on || *(const char **)to ? 0
					 : cli_refuse_word(error, value, strlen(value), "format",
							   tally_export_format_name);
}

static const char *addition_word(size_t index, const char **ret_help)
{
	static const struct {
		const char *name, *help;
	} words[] = {
	    {"pid", "the pid behind the names of processes"},
	    {"tid", "the pid and tid behind them"},
	    {"kernel", "a mark, [k], behind the names of the kernel's functions"},
	    {"jit", "a mark, [j], behind the names of functions that were made at run time"},
	    {"all", "kernel and jit"},
	};

	if (index >= sizeof(words) / sizeof(*words))
		return NULL;
	if (ret_help)
		*ret_help = words[index].help;
	return words[index].name;
}

static int take_additions(void *to, const char *value, bool on, struct tally_error *error)
{
	struct additions with = {.pid = false};

	while (on && *value) {
		size_t length = strcspn(value, ","), found = 0;
		const char *name;

		while ((name = addition_word(found, NULL)) &&
		       (strlen(name) != length || memcmp(name, value, length) != 0))
			found++;
		if (!name)
			return cli_refuse_word(error, value, length, "addition", addition_word);
		with.pid |= found == 0;
		with.tid |= found == 1;
		with.kernel |= found == 2 || found == 4;
		with.jit |= found == 3 || found == 4;
		value += length + (value[length] == ',');
	}
	*(struct additions *)to = with;
	return 0;
}

/* A file that is named; NULL: standard output. */
static const char *file_of(const struct export *export)
{
	bool named = export->output && strcmp(export->output, "-") != 0;

	return named && !tally_export_format_is_folder(export->format) ? export->output : NULL;
}

static int check_terminal(const struct export *export)
{
	if (tally_export_format_is_folder(export->format) || file_of(export) ||
	    !tally_export_format_is_binary(export->format) || !isatty(STDOUT_FILENO))
		return 0;
	cli_say(NAME, "%s is not text, and standard output is a terminal: use -o FILE",
		export->format);
	return CLI_USAGE;
}

/* --- the export --- */

static int update_progress(void *context, uint64_t done, uint64_t total)
{
	return cli_interrupted() || cli_dlfilters_interrupted()
		   ? 1
		   : cli_progress_update(context, done, total);
}

static int write_samples(struct export *export, struct tally_session *session)
{
	bool folder = tally_export_format_is_folder(export->format);
	const char *path = file_of(export);
	const struct tally_export_options options = {
	    .size = sizeof(options),
	    .format = export->format,
	    .events = (const char *const *)export->events.items,
	    .event_count = export->events.count,
	    CLI_FILTER_FIELDS(export->filter),
	    .time = export->time,
	    .cpus = export->cpu_numbers,
	    .cpu_count = export->cpu_count,
	    .max_stack = export->max_stack > UINT32_MAX ? 0 : (uint32_t) export->max_stack,
	    .no_lines = export->no_lines,
	    .no_symbols = export->no_symbols,
	    .with_pid = export->with.pid,
	    .with_tid = export->with.tid,
	    .mark_kernel = export->with.kernel,
	    .mark_jit = export->with.jit,
	    .evented = export->evented,
	    .folder = folder ? export->output : NULL,
	    .path = path,
	    .replace = export->force,
	    .service = export->service,
	    .version = export->release,
	    .host = export->host,
	};
	struct tally_export_result made = {.size = sizeof(made)};
	struct tally_error error = {0};
	uint64_t samples;
	int result =
	    tally_export_write(session, &options, folder || path ? NULL : stdout, &made, &error);

	if (result == -EPIPE) /* the reader of the pipe has ended */
		return CLI_OK;
	if (result == -ECANCELED && (cli_interrupted() || cli_dlfilters_interrupted()))
		return CLI_FAILED;
	if (result && error.code)
		return cli_say_error(NAME, &error);
	if (result) { /* errors of standard output are reported where it is closed */
		if (folder || path)
			cli_say(NAME, "%s: %s", export->output, strerror(-result));
		return CLI_FAILED;
	}
	samples = tally_session_counts(session)->samples;
	if (!made.samples && samples)
		cli_unmatched_say(NAME, session, samples, &export->filter, &export->choice,
				  "all filters together");
	if (made.lost)
		cli_say(NAME,
			"the kernel lost %llu sample%s, for which the format has no place: they "
			"are missing",
			(unsigned long long)made.lost, made.lost == 1 ? "" : "s");
	if (made.image && !export->filter.dsos.count)
		cli_say(NAME, "the branches are those of %s, which has most; -d chooses another",
			made.image);
	return CLI_OK;
}

static int convert(void *context, struct tally_data *data, struct tally_session *session,
		   struct cli_progress *progress)
{
	struct export *export = context;
	int status = cli_choice_use(NAME, &export->choice, session);

	(void)data;
	if (!status)
		status = check_terminal(export);
	if (status)
		return status;
	status = cli_dlfilters_start(&export->dlfilters, session, false);
	if (!status)
		status = write_samples(export, session);
	status = cli_dlfilters_stop(&export->dlfilters, status);
	cli_progress_done(progress);
	return status;
}

static int run(struct export *export)
{
	const struct cli_export_session session = {.command = NAME,
						   .format = export->format,
						   .input = export->input,
						   .max_expand = export->max_expand,
						   .strict = export->strict,
						   .binaries = &export->binaries,
						   .choice = &export->choice,
						   .progress = update_progress};
	sigset_t before;
	int status;

	/* Ctrl-C removes the incomplete file; with filters, their handlers do it. */
	if (!export->dlfilters.filters)
		cli_interrupt_hold(&before);
	status = cli_export_session(&session, convert, export);
	if (!export->dlfilters.filters)
		cli_interrupt_release(&before);
	return status;
}

/* What the table of options cannot say.  0, or CLI_USAGE after having printed it. */
static int check(struct export *export, const struct cli_usage *usage)
{
	const struct additions *with = &export->with;

	if (!export->format)
		return cli_usage_error(usage, "--to FORMAT is missing: which format?");
	if ((with->pid || with->tid || with->kernel || with->jit) &&
	    strcmp(export->format, "folded") != 0)
		return cli_usage_error(usage, "--with is for --to folded");
	if (!tally_export_format_is_folder(export->format) &&
	    (export->service || export->release || export->host))
		return cli_usage_error(usage,
				       "--service, --release and --host are for --to parquet");
	if (export->no_symbols && !tally_export_format_is_folder(export->format))
		return cli_usage_error(usage, "--no-symbols is for --to parquet");
	/* Inlined functions of binaries are left out; those of the kernel need its image. */
	if (export->no_symbols && !export->binaries.vmlinux)
		export->binaries.inlines = CLI_INLINE_NONE;
	if (export->evented && strcmp(export->format, "speedscope") != 0)
		return cli_usage_error(usage, "--evented is for --to speedscope");
	if (export->cpus &&
	    (tally_text_cpu_list(export->cpus, &export->cpu_numbers, &export->cpu_count) ||
	     !export->cpu_count))
		return cli_usage_error(usage, "--cpu '%s' is not a list of CPUs; write it as 0-3,7",
				       export->cpus);
	return cli_filter_numbers(usage, &export->filter);
}

/* The folder of a format that has one, if it stands where the recording does for others. */
static int take_folder(struct export *export, const struct cli_usage *usage, int argc, char **argv,
		       int *at)
{
	if (!export->output && *at < argc)
		export->output = argv[(*at)++];
	return export->output ? 0
			      : cli_usage_error(usage, "--to %s needs a folder: DIR, or -o DIR",
						export->format);
}

int cmd_export(int argc, char **argv)
{
	static const char *const forms[] = {"--to FORMAT [OPTIONS] [FILE]", NULL};
	const struct cli_usage usage = {
	    .command = NAME,
	    .forms = forms,
	    .about = "Writes a recording's samples in a format of other programs: flame graphs, "
		     "profilers, trace viewers, databases, compilers.",
	    .mixed = true,
	};
	struct export export = {.binaries.inlines = CLI_INLINE_USUAL};
	const struct cli_option options[] = {
	    {CLI_GROUP, .help = "Output"},
	    {CLI_CALL, 0, "to", "FORMAT", "the format: {}", .to = &export.format,
	     .call = take_format, .word = tally_export_format_name},
	    {CLI_STRING, 'o', "output", "FILE",
	     "the file to write (default: standard output), or the folder", .to = &export.output},
	    {CLI_FLAG, 'f', "force", NULL, "replace the file if it exists", .to = &export.force},
	    {CLI_CALL, 0, "with", "WORDS", "folded: what names get: {}", .to = &export.with,
	     .call = take_additions, .word = addition_word},
	    {CLI_FLAG, 0, "evented", NULL, "speedscope: each sample at its time, instead of sums",
	     .to = &export.evented},
	    {CLI_STRING, 0, "service", "NAME", "parquet: the service that was recorded",
	     .to = &export.service},
	    {CLI_STRING, 0, "release", "NAME", "parquet: the version of the service",
	     .to = &export.release},
	    {CLI_STRING, 0, "host", "NAME", "parquet: the host (default: the recording's)",
	     .to = &export.host},
	    {CLI_FLAG, 0, "no-symbols", NULL,
	     "parquet: leave out functions and lines of binaries, for tally symbolize",
	     .to = &export.no_symbols},
	    {CLI_FLAG, 0, "no-lines", NULL, "do not look up source lines", .to = &export.no_lines},
	    CLI_INLINE(export.binaries),
	    {CLI_U64, 0, "max-stack", "N", "frames that are kept of a call chain, the innermost",
	     .to = &export.max_stack},
	    {CLI_GROUP, .help = "Input"},
	    CLI_INPUT(export.input),
	    CLI_BINARIES(export.binaries),
	    CLI_NO_DEMANGLE(export.binaries),
	    CLI_STRICT(export.strict),
	    CLI_MAX_EXPAND(export.max_expand),
	    {CLI_GROUP, .help = "Samples that are exported"},
	    {CLI_LIST, 'e', "event", "NAMES", "only these events", .to = &export.events},
	    {CLI_STRING, 0, "time", "SPANS",
	     "only from START,STOP in seconds, or parts of the time as 10%/2 or 0%-10%,30%-40%",
	     .to = &export.time},
	    {CLI_STRING, 'C', "cpu", "CPUS", "only these CPUs", .to = &export.cpus},
	    {CLI_LIST, 'c', "comms", "NAMES", "only these commands", .to = &export.filter.comms},
	    {CLI_LIST, 'd', "dsos", "NAMES", "only samples in these binaries",
	     .to = &export.filter.dsos},
	    {CLI_LIST, 'S', "symbols", "NAMES", "only samples in these functions",
	     .to = &export.filter.symbols},
	    {CLI_LIST, 0, "pid", "PIDS", "only these processes", .to = &export.filter.pids},
	    {CLI_LIST, 0, "tid", "TIDS", "only these threads", .to = &export.filter.tids},
	    CLI_CHOICE(export.choice),
	    CLI_DLFILTERS(export.dlfilters),
	    {CLI_COUNT, 'v', "verbose", NULL, "more about filters with --list-dlfilters",
	     .to = &export.dlfilters.verbose},
	    {.kind = CLI_END},
	};
	int status = cli_settings_apply(NAME, cmd_export_settings, &export);
	int at = status ? -1 : cli_parse(&usage, options, argc, argv, &status);

	if (at >= 0 && export.dlfilters.list) {
		cli_dlfilters_list(&export.dlfilters);
		at = -1;
	}
	if (at >= 0)
		status = check(&export, &usage);
	if (at >= 0 && !status && tally_export_format_is_folder(export.format))
		status = take_folder(&export, &usage, argc, argv, &at);
	if (at >= 0 && !status)
		status = cli_recording_take(&usage, argc, argv, at, &export.input);
	if (at >= 0 && !status)
		status = cli_choice_parse(NAME, &export.choice);
	if (at >= 0 && !status)
		status = cli_dlfilters_load(NAME, &export.dlfilters);
	if (at >= 0 && !status)
		status = run(&export);
	cli_dlfilters_done(&export.dlfilters);
	cli_choice_done(&export.choice);
	cli_filter_done(&export.filter);
	cli_list_done(&export.events);
	free(export.cpu_numbers);
	cli_binaries_done(&export.binaries);
	return status;
}
