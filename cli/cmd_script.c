/* `tally script`: a recording's samples and records as text, one by one, as perf script prints
 * them. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <tally/data.h>
#include <tally/header.h>
#include <tally/report.h>
#include <tally/script.h>
#include <tally/session.h>
#include <tally/sql.h>
#include <tally/text.h>
#include <unistd.h>
#include "binaries.h"
#include "filter_expression.h"
#include "command.h"
#include "damage_notice.h"
#include "dlfilter_option.h"
#include "filter_lists.h"
#include "interrupt.h"
#include "lbr_chains.h"
#include "options.h"
#include "pager.h"
#include "progress.h"
#include "recording.h"
#include "say.h"
#include "stat_command.h"
#include "unmatched.h"

#define USUAL_STACK 127 /* frames of a chain, as in perf */

struct script {
	const char *input, *time, *cpus, *sql;
	struct cli_binaries binaries;
	struct cli_filter filter;
	struct cli_dlfilters dlfilters;
	struct cli_choice choice;
	struct cli_list fields, stops;
	uint64_t max_stack, max_expand, addr_range;
	bool hide_call_graph, nanoseconds, relative, delta, per_event_dump, kernel_path;
	bool dump, json, header, header_only, full_header, source_path, force, strict;
	bool stitch;     /* --stitch-lbr */
	bool any_sample; /* some passed the filters */
	bool task, mmap, switches, namespaces, cgroups, lost, rounds, bpf, text_poke;
};

/* Progress until the text begins; and during the text when it does not go to the terminal. */
struct progress {
	struct cli_progress line;
	bool over;
};

static int progress_update(void *context, uint64_t done, uint64_t total)
{
	struct progress *progress = context;

	if (cli_dlfilters_interrupted())
		return 1;
	return progress->over ? 0 : cli_progress_update(&progress->line, done, total);
}

static void notice(void *context, const char *text)
{
	(void)context;
	cli_say("script", "%s", text);
}

static int list_fields(void)
{
	const char *name;
	size_t width = 0;

	for (size_t i = 0; (name = tally_script_field_name(i)); i++) {
		if (width + strlen(name) > 76) {
			putchar('\n');
			width = 0;
		}
		width += (size_t)printf("%s%s", width ? " " : "", name);
	}
	putchar('\n');
	return CLI_OK;
}

static unsigned shown(const struct script *script)
{
	return (script->task ? TALLY_SHOW_TASK : 0U) | (script->mmap ? TALLY_SHOW_MMAP : 0U) |
	       (script->switches ? TALLY_SHOW_SWITCH : 0U) |
	       (script->namespaces ? TALLY_SHOW_NAMESPACE : 0U) |
	       (script->cgroups ? TALLY_SHOW_CGROUP : 0U) | (script->lost ? TALLY_SHOW_LOST : 0U) |
	       (script->rounds ? TALLY_SHOW_ROUND : 0U) | (script->bpf ? TALLY_SHOW_BPF : 0U) |
	       (script->text_poke ? TALLY_SHOW_TEXT_POKE : 0U);
}

static struct tally_script_options options_of(struct script *script)
{
	return (struct tally_script_options){
	    .size = sizeof(struct tally_script_options),
	    .fields = (const char *const *)script->fields.items,
	    .field_count = script->fields.count,
	    .hide_call_graph = script->hide_call_graph,
	    .max_stack = !script->max_stack               ? TALLY_SCRIPT_NO_FRAMES
			 : script->max_stack < UINT32_MAX ? (uint32_t)script->max_stack
							  : UINT32_MAX - 1,
	    .time = script->time,
	    .cpus = script->cpus,
	    CLI_FILTER_FIELDS(script->filter),
	    .addr_range = script->addr_range,
	    .stops = (const char *const *)script->stops.items,
	    .stop_count = script->stops.count,
	    .nanoseconds = script->nanoseconds,
	    .relative = script->relative,
	    .delta = script->delta,
	    .show = shown(script),
	    .per_event_dump = script->per_event_dump,
	    .show_kernel_path = script->kernel_path,
	    .dump = script->dump,
	    .json = script->json,
	    .full_source_path = script->source_path,
	    .notice = notice,
	    .ret_any_sample = &script->any_sample,
	};
}

/* Prints the header's lines, before the text; below 0 when they could not be written. */
static int show_header(const struct script *script, const struct tally_data *data)
{
	unsigned flags = script->full_header ? TALLY_HEADER_FULL : 0;
	int result;

	if (!script->header && !script->header_only)
		return 0;
	if (!isatty(STDOUT_FILENO))
		flags |= TALLY_HEADER_RAW;
	result = tally_header_text(data, flags, stdout);
	if (!result && !script->header_only)
		result = tally_header_stream_text(data, flags, stdout);
	return fflush(stdout) && !result ? -errno : result;
}

/* The status of a header that could not be written. */
static int header_failed(int result)
{
	if (result == -EPIPE)
		return CLI_OK;
	if (!ferror(stdout)) /* errors of stdout are reported where it is closed */
		cli_say("script", "the header: %s", strerror(-result));
	return CLI_FAILED;
}

/* A filter of a shared object may drop all samples on purpose: it prints what it wants. */
static void say_unmatched(const struct script *script, struct tally_session *session)
{
	const struct cli_filter *filter = &script->filter;
	uint64_t samples = tally_session_counts(session)->samples;

	if (samples && !script->dlfilters.filters &&
	    (filter->comms.count || filter->dsos.count || filter->symbols.count ||
	     filter->pids.count || filter->tids.count || script->time || script->cpus ||
	     script->choice.choice))
		cli_unmatched_say("script", session, samples, filter, &script->choice,
				  "all filters together");
}

static int show(struct script *script, struct tally_session *session,
		struct tally_script_options *options, struct progress *progress)
{
	struct tally_error error = {0};
	struct cli_pager pager;
	int result, status;

	options->raw_text = !isatty(STDOUT_FILENO);
	if (!options->raw_text) {
		cli_progress_done(&progress->line);
		progress->over = true;
	}
	cli_pager_start(&pager);
	result = show_header(script, tally_session_data(session));
	if (result) {
		cli_pager_finish(&pager);
		return header_failed(result);
	}
	status = cli_dlfilters_start(&script->dlfilters, session, script->kernel_path);
	if (!status)
		result = tally_script_write(session, options, stdout, &error);
	status = cli_dlfilters_stop(&script->dlfilters, status);
	if (ferror(stdout)) { /* reported here, not where stdout is closed */
		__fpurge(stdout);
		clearerr(stdout);
	}
	cli_pager_finish(&pager);
	cli_progress_done(&progress->line);
	if (!result && !script->any_sample)
		say_unmatched(script, session);
	if (!result || result == -EPIPE || cli_dlfilters_interrupted())
		return status; /* the reader of the pipe has ended */
	return cli_say_error("script", &error);
}

static int export(struct tally_session *session, struct script *script, struct progress *progress)
{
	const struct tally_sql_options options = {.size = sizeof(options),
						  .replace = script->force};
	struct tally_error error = {0};
	sigset_t before;
	int result, status;

	status = cli_dlfilters_start(&script->dlfilters, session, script->kernel_path);
	if (status)
		return cli_dlfilters_stop(&script->dlfilters, status);
	/* Ctrl-C removes the incomplete file; with filters, their handlers do it. */
	if (!script->dlfilters.filters)
		cli_interrupt_hold(&before);
	result = tally_sql_write(session, script->sql, &options, &error);
	status = cli_dlfilters_stop(&script->dlfilters, CLI_OK);
	cli_progress_done(&progress->line);
	if (!script->dlfilters.filters)
		cli_interrupt_release(&before);
	return result && !cli_dlfilters_interrupted() ? cli_say_error("script", &error) : status;
}

/* A recording of counts has no samples. */
static int show_counts(const struct script *script, struct tally_data *data)
{
	struct cli_pager pager;
	int result, status;

	cli_pager_start(&pager);
	result = show_header(script, data);
	status = result ? header_failed(result) : stat_report_list(data, script->input);
	cli_pager_finish(&pager);
	return status;
}

static bool shows_records(const struct script *script)
{
	return script->task || script->mmap || script->switches || script->namespaces ||
	       script->cgroups || script->lost || script->rounds || script->bpf ||
	       script->text_poke;
}

static bool shows_lines(const struct script *script)
{
	for (size_t i = 0; i < script->fields.count; i++)
		if (strstr(script->fields.items[i], "src"))
			return true;
	return script->binaries.inlines == CLI_INLINE_ALL;
}

static int run(struct script *script, struct tally_script_options *options)
{
	struct tally_session_options session_options = {
	    .size = sizeof(session_options),
	    /* Ends of rounds mean something only at their place in the file. */
	    .file_order = script->rounds,
	    .progress = progress_update,
	};
	struct tally_session *session = NULL;
	struct tally_data *data = NULL;
	struct tally_error error = {0};
	struct progress progress = {.over = false};
	int result, status = cli_binaries_apply("script", &script->binaries, &session_options);
	bool counts = !script->sql && !script->json && !script->dump && !script->per_event_dump;

	if (status)
		return status;
	cli_progress_start(&progress.line, "Reading the recording");
	session_options.progress_context = &progress;
	if (cli_data_open(script->input, script->max_expand, &data, &error)) {
		cli_progress_done(&progress.line);
		return cli_say_error("script", &error);
	}
	status = cli_choice_fit("script", &script->choice, data);
	session_options.stitch_lbr = script->stitch && cli_stitch_lbr("script", data);
	counts = counts && !script->header_only && tally_stat_rounds_known(data);
	if (status) {
		cli_progress_done(&progress.line);
	} else if (script->header_only) {
		cli_progress_done(&progress.line);
		result = show_header(script, data);
		status = result ? header_failed(result) : CLI_OK;
	} else if (counts && !shows_records(script)) {
		cli_progress_done(&progress.line);
		status = show_counts(script, data);
	} else if (tally_session_new(data, &session_options, &session, &error)) {
		cli_progress_done(&progress.line);
		status = cli_say_error("script", &error);
	} else if (script->strict && cli_refuse_damage("script", data)) {
		cli_progress_done(&progress.line);
		status = CLI_FAILED;
	} else if (!(status = cli_choice_use("script", &script->choice, session))) {
		cli_debuginfod_fetch("script", script->binaries.debuginfod, session,
				     shows_lines(script));
		status = script->sql ? export(session, script, &progress)
				     : show(script, session, options, &progress);
		if (script->dlfilters.verbose)
			tally_report_missing(session, stderr);
		tally_report_left_out(session, stderr);
		if (!status && counts) {
			tally_data_rewind(data);
			status = stat_report_list(data, script->input);
		}
		if (!status)
			status = cli_report_damage("script", data);
	}
	tally_session_free(session);
	tally_data_close(data);
	return status;
}

static int check_and_run(const struct cli_usage *usage, struct script *script)
{
	struct tally_script_options options = options_of(script);
	struct tally_error error = {0};
	int status;

	if (tally_script_check(&options, &error))
		return cli_usage_error(usage, "%s", error.text);
	/* When the reader of the pipe ends, we do not die of SIGPIPE. */
	signal(SIGPIPE, SIG_IGN);
	status = cli_choice_parse("script", &script->choice);
	if (!status)
		status = cli_dlfilters_load("script", &script->dlfilters);
	return status ? status : run(script, &options);
}

/* perf runs scripts of its own; the same records come as JSON. */
static int refuse_script(void *to, const char *value, bool on, struct tally_error *error)
{
	(void)to;
	(void)on;
	return cli_refuse(
	    error,
	    "tally does not run scripts of perf: change %s to read lines of JSON and use `tally "
	    "script --json | python3 %s`, see SCRIPTS IN PYTHON in tally-script(1)",
	    value, value);
}

/* `perf script NAME` runs a script that perf has installed. Returns true when `name` is such a
 * script. */
static bool is_script_of_perf(const char *name)
{
	static const char *const folders[] = {"python", "perl"};
	const char *exec = getenv("PERF_EXEC_PATH");
	char path[PATH_MAX];

	if (strchr(name, '/') || !access(name, F_OK))
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, sizeof(path), "%s/scripts/%s/bin/%s-report",
			 exec && *exec ? exec : "/usr/lib/perf-core", folders[i], name);
		if (!access(path, F_OK))
			return true;
	}
	return false;
}

const struct cli_setting cmd_script_settings[] = {
    {"buildid.dir", "--buildid-dir", CLI_SETTING_TEXT, offsetof(struct script, binaries.usual_dir),
     .room = CLI_BUILD_ID_DIR},
    {.key = NULL},
};

/* Options that choose samples, or how they are shown. */
#define CHOICES                                                                                \
	"-D,--per-event-dump,-F,-G,--max-stack,--stop-bt,--ns,--reltime,--deltatime,"          \
	"--full-source-path,--show-task-events,--show-mmap-events,--show-switch-events,"       \
	"--show-lost-events,--show-round-events,--show-namespace-events,--show-cgroup-events," \
	"--show-bpf-events,--show-text-poke-events,--time,-C,-c,--pid,--tid,--dsos,-S"

static const struct cli_rule rules[] = {
    {"--sql", CLI_EXCLUDES, "--json,--header,--header-only," CHOICES,
     "it writes the whole recording, of which --filter chooses samples"},
    {"--json", CLI_EXCLUDES, "-D,--per-event-dump", "it prints all fields of each record"},
    {"--reltime,--deltatime", CLI_ONE_OF, NULL, "a sample has one time"},
    {"--addr-range", CLI_NEEDS, "-S",
     "it is the size of the range that begins at an address given to -S"},
    {"-I", CLI_NEEDS, "--header,--header-only", "it adds lines to the header"},
    {NULL},
};

int cmd_script(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS]", "[OPTIONS] FILE", NULL};
	struct cli_given given;
	const struct cli_usage usage = {
	    .command = "script",
	    .forms = forms,
	    .about = "Prints a recording's samples, and with options its other records, one by one "
		     "in the order of time, as the text of perf script, which other programs read.",
	    .mixed = true,
	    .rules = rules,
	    .given = &given,
	};
	struct script script = {.max_stack = USUAL_STACK, .binaries.inlines = CLI_INLINE_USUAL};
	const struct cli_option options[] = {
	    {CLI_GROUP, .help = "Input"},
	    CLI_INPUT(script.input),
	    CLI_BINARIES(script.binaries),
	    CLI_STRICT(script.strict),
	    CLI_MAX_EXPAND(script.max_expand),
	    {CLI_GROUP, .help = "Samples"},
	    {CLI_STRING, 0, "time", "SPANS",
	     "only from START,STOP in seconds, or parts of the time as 10%/2 or 0%-10%,30%-40%",
	     .to = &script.time},
	    {CLI_STRING, 'C', "cpu", "CPUS", "only these CPUs", .to = &script.cpus},
	    {CLI_LIST, 'c', "comms", "NAMES", "only these commands", .to = &script.filter.comms},
	    {CLI_LIST, 0, "pid", "PIDS", "only these processes", .to = &script.filter.pids},
	    {CLI_LIST, 0, "tid", "TIDS", "only these threads", .to = &script.filter.tids},
	    {CLI_LIST, 0, "dsos", "NAMES", "only samples in these binaries",
	     .to = &script.filter.dsos},
	    {CLI_LIST, 'S', "symbols", "NAMES", "only samples in these functions, or at 0x...",
	     .to = &script.filter.symbols},
	    {CLI_U64, 0, "addr-range", "BYTES",
	     "how many bytes an address given with -S stands for", .to = &script.addr_range},
	    CLI_CHOICE(script.choice),
	    CLI_DLFILTERS(script.dlfilters),
	    {CLI_GROUP, .help = "Fields"},
	    {CLI_LIST, 'F', "fields", "FIELDS",
	     "the fields to print: [TYPE:]FIELD,... or +FIELD,-FIELD; help lists them",
	     .to = &script.fields, .flags = CLI_WHOLE},
	    {CLI_FLAG, 'G', "hide-call-graph", NULL, "no call chains",
	     .to = &script.hide_call_graph},
	    {CLI_FLAG, 0, "stitch-lbr", NULL,
	     "end chains of --call-graph lbr with the callers that an earlier sample of the thread "
	     "had",
	     .to = &script.stitch},
	    {CLI_U64, 0, "max-stack", "FRAMES",
	     "use only this many innermost frames of a chain (default: 127)",
	     .to = &script.max_stack},
	    {CLI_LIST, 0, "stop-bt", "NAMES", "end chains at these functions", .to = &script.stops},
	    {CLI_FLAG, 0, "ns", NULL, "times with all nine digits", .to = &script.nanoseconds},
	    {CLI_FLAG, 0, "reltime", NULL, "times since the first sample", .to = &script.relative},
	    {CLI_FLAG, 0, "deltatime", NULL, "times since the sample before", .to = &script.delta},
	    CLI_NO_DEMANGLE(script.binaries),
	    {CLI_FLAG, 0, "show-kernel-path", NULL, "the kernel's binaries by their paths",
	     .to = &script.kernel_path},
	    {CLI_GROUP, .help = "Other records"},
	    {CLI_FLAG, 0, "show-task-events", NULL, "names, forks and exits", .to = &script.task},
	    {CLI_FLAG, 0, "show-mmap-events", NULL, "mappings", .to = &script.mmap},
	    {CLI_FLAG, 0, "show-switch-events", NULL, "context switches", .to = &script.switches},
	    {CLI_FLAG, 0, "show-lost-events", NULL, "losses", .to = &script.lost},
	    {CLI_FLAG, 0, "show-round-events", NULL, "ends of rounds", .to = &script.rounds},
	    {CLI_FLAG, 0, "show-namespace-events", NULL, "namespaces", .to = &script.namespaces},
	    {CLI_FLAG, 0, "show-cgroup-events", NULL, "control groups", .to = &script.cgroups},
	    {CLI_FLAG, 0, "show-bpf-events", NULL, "BPF programs", .to = &script.bpf},
	    {CLI_FLAG, 0, "show-text-poke-events", NULL, "changes of the kernel's code",
	     .to = &script.text_poke},
	    {CLI_GROUP, .help = "Output"},
	    {CLI_FLAG, 'D', "dump-raw-trace", NULL, "every record's bytes and fields",
	     .to = &script.dump},
	    {CLI_FLAG, 0, "json", NULL, "JSON, one object per record", .to = &script.json},
	    {CLI_FLAG, 0, "header", NULL, "print the header first", .to = &script.header},
	    {CLI_FLAG, 0, "header-only", NULL, "print the header and nothing else",
	     .to = &script.header_only},
	    {CLI_FLAG, 'I', "show-info", NULL, "with --header: also topology, caches and memory",
	     .to = &script.full_header},
	    {CLI_FLAG, 0, "full-source-path", NULL, "source files by their whole paths",
	     .to = &script.source_path},
	    CLI_INLINE(script.binaries),
	    {CLI_FLAG, 0, "per-event-dump", NULL,
	     "write a file FILE.EVENT.dump for each event, instead of standard output",
	     .to = &script.per_event_dump},
	    {CLI_STRING, 0, "sql", "FILE",
	     "write the whole recording to a new SQLite database, instead of text",
	     .to = &script.sql},
	    {CLI_FLAG, 'f', "force", NULL, "replace the file of --sql", .to = &script.force},
	    {CLI_COUNT, 'v', "verbose", NULL, "print why symbols are missing",
	     .to = &script.dlfilters.verbose},
	    {CLI_CALL, 's', "script", "FILE", "", .flags = CLI_HIDDEN, .call = refuse_script},
	    {.kind = CLI_END},
	};
	int status = cli_settings_apply("script", cmd_script_settings, &script);
	int at = status ? -1 : cli_parse(&usage, options, argc, argv, &status);

	if (at < 0)
		goto done;
	if (script.dlfilters.list) {
		status = CLI_OK;
		cli_dlfilters_list(&script.dlfilters);
		goto done;
	}
	for (int i = at; i < argc; i++) {
		if (is_script_of_perf(argv[i])) {
			status = cli_usage_error(&usage,
						 "'%s' is a script of perf, which only perf can "
						 "run; read the same records with `tally script "
						 "--json | PROGRAM`, see SCRIPTS IN PYTHON in "
						 "tally-script(1)",
						 argv[i]);
			goto done;
		}
	}
	status = cli_recording_take(&usage, argc, argv, at, &script.input);
	if (!status)
		status = cli_filter_numbers(&usage, &script.filter);
	if (status)
		goto done;
	if (script.fields.count && !strcmp(script.fields.items[0], "help"))
		status = list_fields();
	else
		status = check_and_run(&usage, &script);
done:
	cli_dlfilters_done(&script.dlfilters);
	cli_choice_done(&script.choice);
	cli_filter_done(&script.filter);
	cli_binaries_done(&script.binaries);
	cli_list_done(&script.fields);
	cli_list_done(&script.stops);
	return status;
}
