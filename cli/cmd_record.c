/* `tally record`: samples of a command, of processes or of the whole system into a perf.data file.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tally/event.h>
#include <tally/probe.h>
#include <tally/recorder.h>
#include <tally/sample_words.h>
#include "build_id_folder.h"
#include "command.h"
#include "ending.h"
#include "ids.h"
#include "keep_binaries.h"
#include "options.h"
#include "record_control.h"
#include "record_options.h"
#include "say.h"

/* `-g dwarf prog` and `-p $(pidof nginx)`: the first word is not a command. */
static int check_command(const struct cli_usage *usage, const struct record *record, int argc,
			 char **argv, int at)
{
	int status = cli_ids_check_words(usage, "-p", &record->pids, argc, argv, at);

	if (!status)
		status =
		    cli_ids_check_words(usage, "--children-of", &record->parents, argc, argv, at);
	if (!status)
		status = cli_ids_check_words(usage, "-t", &record->tids, argc, argv, at);
	if (!status && at < argc && !strcmp(argv[at - 1], "-g") && record_is_call_graph(argv[at]))
		status =
		    cli_usage_error(usage, "-g takes no value: write --call-graph %s", argv[at]);
	return status;
}

/* `--off-cpu 5 prog`: the value of such an option stands behind a '='. */
static void say_value(const struct record *record, const char *name, const char *word)
{
	if (name && word[0] >= '0' && word[0] <= '9')
		cli_say(record->command, "did you mean --%s=%s?", name, word);
}

/* Places in code are found after the targets are known: markers are searched for in the targets. */
static bool find_places(struct record *record, const struct tally_recorder_options *options)
{
	struct tally_probe_options where = {
	    .size = sizeof(where),
	    .command = options->command,
	    .pids = options->pid_count ? options->pids : options->parents,
	    .pid_count = options->pid_count ? options->pid_count : options->parent_count,
	    .system_wide = record->system_wide,
	};
	struct tally_error error;

	if (!tally_probe_resolve(&record->events, &where, &error))
		return true;
	cli_say_error(record->command, &error);
	return false;
}

/* --- running --- */

/* A signal handler gets no argument, so it finds the recorder here. */
static struct tally_recorder *volatile stoppable;

static void on_signal(int signal)
{
	struct tally_recorder *recorder = stoppable;

	if (recorder)
		tally_recorder_stop(recorder, signal);
}

/* The next file, and what overwritten rings and AUX areas hold; where there is neither, nothing. */
static void on_switch(int signal)
{
	struct tally_recorder *recorder = stoppable;

	(void)signal;
	if (!recorder)
		return;
	tally_recorder_snapshot(recorder);
	tally_recorder_switch(recorder);
}

/* A shell without job control makes background commands ignore SIGINT. SIGINT ends a recording all
 * the same. Signals that nohup ignores stay ignored. */
static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (i < 2 ||
		    (!sigaction(signals[i], NULL, &before) && before.sa_handler != SIG_IGN))
			sigaction(signals[i], &action, NULL);
	action.sa_handler = on_switch;
	sigaction(SIGUSR2, &action, NULL);
}

static void say_notice(void *context, const char *text)
{
	const struct record *record = context;

	if (!record->quiet)
		cli_say(NULL, "%s", text);
}

/* The recording is complete: from here on a signal ends us at once. */
static void keep_binaries(const struct record *record, const char *output,
			  const struct tally_recorder_result *result)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	const struct cli_keep keep = {
	    .folder = cli_build_id_folder(record->build_id_folder, record->usual_folder),
	    /* A trace leads through code without samples. */
	    .all = record->all_binaries || result->aux_bytes,
	    .quiet = record->quiet,
	    .verbose = record->verbose > 0,
	    .fetch = record->debuginfod == CLI_DEBUGINFOD_ASKED,
	    .no_copies = record->no_cache || record->no_build_ids,
	    .held = result->held,
	    .held_count = result->held_count,
	};
	struct sigaction now;
	struct stat status;

	/* a pipe or /dev/null cannot be read again */
	if ((keep.no_copies && !keep.fetch) || !strcmp(output, "-") || stat(output, &status) ||
	    !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
		return;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (!sigaction(signals[i], NULL, &now) && now.sa_handler == on_signal)
			signal(signals[i], SIG_DFL);
	cli_keep_binaries(output, &keep);
}

static int run(struct record *record, const struct cli_usage *usage,
	       struct tally_recorder_options *options)
{
	struct record_control control;
	const char *output = options->output;
	int own_failure = options->command ? CLI_OWN_FAILURE : CLI_FAILED, status;
	struct tally_recorder *recorder;
	struct tally_recorder_result result = {.size = sizeof(result)};
	struct tally_error error;
	bool complete = false;

	status = record_control_open(&control, usage, record->control);
	if (status)
		return status;
	status = tally_recorder_new(options, &recorder, &error);
	if (status) {
		record_control_close(&control);
		cli_say_error(record->command, &error);
		return status == -EACCES || status == -EPERM ? CLI_NOT_PERMITTED : own_failure;
	}
	if (!record->quiet && !record->no_inherit)
		cli_ids_report_children(options->pids, options->pid_count, "recorded");
	stoppable = recorder;
	/* When the reader of the pipe ends, we print a message and end the recording; the command
	 * does not inherit this. */
	if (!strcmp(output, "-"))
		signal(SIGPIPE, SIG_IGN);
	catch_signals();
	if (!options->command && !record->quiet && isatty(STDERR_FILENO))
		cli_say(NULL, "recording%s; Ctrl-C ends it",
			record->system_wide ? " the whole system" : "");
	record_control_start(&control, recorder, output);
	status = tally_recorder_run(recorder, &result, &error);
	record_control_close(&control);
	if (status) {
		int exec_error = tally_recorder_exec_error(recorder);

		cli_say_error(record->command, &error);
		if (exec_error == ENOENT && record->callchain)
			record_say_similar_call_graph(record, options->command[0]);
		if (exec_error == ENOENT)
			say_value(record, usage->given->valueless, options->command[0]);
		status = exec_error == ENOENT ? CLI_NOT_FOUND
			 : exec_error         ? CLI_CANNOT_RUN
					      : own_failure;
	} else {
		/* The terminal shows ^C on this line: begin a new one. */
		if (result.ended_by == SIGINT && !record->quiet && isatty(STDERR_FILENO))
			fputc('\n', stderr);
		record_say_result(record, result.path, &result);
		record_say_traces(record, &result);
		complete = result.samples || result.aux_bytes;
		status = cli_ending_status(record->command,
					   options->command ? options->command[0] : NULL,
					   result.wait_status, result.ended_by);
	}
	stoppable = NULL;
	/* Of several files, those of all of them would be too many: `tally buildid-cache` keeps
	 * them. */
	if (complete && !record->files.switches)
		keep_binaries(record, result.path, &result);
	tally_recorder_free(recorder);
	return status;
}

static const struct cli_rule rules[] = {
    {"-a", CLI_EXCLUDES, "-p,-t,--children-of,-u",
     "-a records the whole system, the others parts of it"},
    {"-u", CLI_EXCLUDES, "-p,-t,--children-of", "-u records all processes of a user"},
    {"-F,-c", CLI_ONE_OF, NULL, "samples are taken by time or by number of events"},
    {"--all-user,--all-kernel", CLI_ONE_OF, NULL, "each is the opposite of the other"},
    {"--kernel-callchains,--user-callchains", CLI_ONE_OF, NULL,
     "together they leave out all call chains"},
    {"-b,-j", CLI_ONE_OF, NULL, "-b is -j any"},
    {"--latency", CLI_EXCLUDES, "-a,-C", "parallelism is that of one program"},
    {"--off-cpu-thresh", CLI_NEEDS, "--off-cpu", "it is the threshold of its samples"},
    {"--per-thread", CLI_EXCLUDES, "-a,-C", "rings are of threads or of CPUs"},
    {"-G,--for-each-cgroup", CLI_ONE_OF, NULL,
     "-G gives each event its cgroup, --for-each-cgroup records all events in each"},
    {"-G", CLI_NEEDS, "-a,-C", "cgroups are recorded on CPUs"},
    {"--for-each-cgroup", CLI_NEEDS, "-a,-C", "cgroups are recorded on CPUs"},
    {NULL},
};

static const struct {
	size_t (*rows)(struct record *record, struct cli_option *to);
	bool (*take)(struct record *record, struct tally_recorder_options *to);
} themes[] = {
    {record_target_rows, record_targets_take},  {record_event_rows, record_events_take},
    {record_field_rows, record_fields_take},    {record_stack_rows, record_stacks_take},
    {record_off_cpu_rows, record_off_cpu_take}, {record_output_rows, record_output_take},
    {record_ring_rows, record_rings_take},      {record_files_rows, record_files_take},
};

#define THEMES (sizeof(themes) / sizeof(*themes))

static int print_registers(void)
{
	const char *word;

	for (size_t i = 0; (word = tally_register_word(i)); i++)
		printf("%s%s", i ? " " : "", word);
	printf("\n");
	return CLI_OK;
}

static int parse_and_run(struct record *record, int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS] [--] COMMAND [ARGUMENTS]",
					    "[OPTIONS] -p PID,...", "[OPTIONS] -a", NULL};
	struct cli_given given;
	const struct cli_usage usage = {
	    .command = record->command,
	    .forms = forms,
	    .about =
		"Runs a command, or watches running processes, and writes samples of where they "
		"spend their time to a perf.data file, which `tally report` and perf read.",
	    .rules = rules,
	    .given = &given,
	};
	/* Not on the stack: a recorder runs for long. */
	struct cli_option *options = calloc(CLI_OPTIONS_MOST, sizeof(*options));
	struct tally_recorder_options wanted = {
	    .size = sizeof(wanted),
	    .notice = say_notice,
	    .notice_context = record,
	};
	const char **cmdline;
	size_t rows = 0;
	int status, at;

	if (!options) {
		cli_say(record->command, "out of memory");
		return CLI_FAILED;
	}
	for (size_t i = 0; i < THEMES; i++)
		rows += themes[i].rows(record, options + rows);
	options[rows] = (struct cli_option){.kind = CLI_END};
	at = cli_parse(&usage, options, argc, argv, &status);
	free(options);
	if (at < 0)
		return status;
	if (record->list_registers)
		return print_registers();
	status = check_command(&usage, record, argc, argv, at);
	if (status)
		return status;
	for (size_t i = 0; i < THEMES; i++)
		if (!themes[i].take(record, &wanted))
			return CLI_USAGE;
	if (at < argc)
		wanted.command = argv + at;
	else if (!record->pids.count && !record->tids.count && !record->parents.count &&
		 !record->users.count && !record->system_wide && !record->cpu_count)
		return cli_usage_error(&usage,
				       "nothing to record: give a command, or -p, -t, -u or -a");
	if (record->dry_run)
		return CLI_OK;
	if (!find_places(record, &wanted))
		return wanted.command ? CLI_OWN_FAILURE : CLI_FAILED;
	/* The file keeps the command line, with the name of the program. */
	cmdline = calloc((size_t)argc + 1, sizeof(*cmdline));
	if (!cmdline) {
		cli_say(record->command, "out of memory");
		return CLI_FAILED;
	}
	cmdline[0] = "tally";
	for (int i = 0; i < argc; i++)
		cmdline[i + 1] = argv[i];
	wanted.cmdline = cmdline;
	wanted.cmdline_count = (size_t)argc + 1;
	status = run(record, &usage, &wanted);
	free(cmdline);
	return status;
}

/* record.build-id = cache, no-cache, skip or mmap, as perf. */
static int take_build_id(void *to, const char *value, bool on, struct tally_error *error)
{
	struct record *record = to;

	(void)on;
	record->no_cache = !strcmp(value, "no-cache");
	record->no_build_ids = !strcmp(value, "skip");
	return record->no_cache || record->no_build_ids || !strcmp(value, "cache") ||
		       !strcmp(value, "mmap")
		   ? 0
		   : cli_refuse(error, "'%s' is not cache, no-cache, skip or mmap", value);
}

const struct cli_setting cmd_record_settings[] = {
    {"buildid.dir", "--buildid-dir", CLI_SETTING_TEXT, offsetof(struct record, usual_folder),
     .room = sizeof(((struct record *)0)->usual_folder)},
    {"record.build-id", "--no-buildid-cache", CLI_SETTING_CALL, 0, .call = take_build_id},
    {"call-graph.record-mode", "-g", CLI_SETTING_TEXT, offsetof(struct record, record_mode),
     .room = sizeof(((struct record *)0)->record_mode)},
    {"call-graph.dump-size", "--call-graph", CLI_SETTING_TEXT, offsetof(struct record, dump_size),
     .room = sizeof(((struct record *)0)->dump_size)},
    {.key = NULL},
};

int record_main(const char *command, int argc, char **argv)
{
	struct record record = {.command = command};
	int status = cli_settings_apply(command, cmd_record_settings, &record);

	if (!status)
		status = parse_and_run(&record, argc, argv);

	record_events_done(&record);
	record_files_done(&record);
	record_targets_done(&record);
	return status;
}

int cmd_record(int argc, char **argv)
{
	return record_main("record", argc, argv);
}
