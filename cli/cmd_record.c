/* `tally record`: samples of a command, of processes or of the whole system into a perf.data file.
 */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tally/event.h>
#include <tally/limits.h>
#include <tally/probe.h>
#include <tally/recorder.h>
#include <tally/text.h>
#include "build_id_folder.h"
#include "command.h"
#include "ending.h"
#include "ids.h"
#include "keep_binaries.h"
#include "options.h"
#include "recording.h"
#include "say.h"

struct record {
	struct tally_event_list events;
	struct cli_list pids, tids, parents, users;
	const char *output, *cpus, *frequency, *ring, *call_graph;
	bool system_wide, no_inherit, callchain, keep_stacks, quiet;
	const char *stacks_output;
	/* From a configuration file: how -g records chains when the command line does not say how.
	 */
	char record_mode[32], dump_size[16], usual_call_graph[64];
	uint64_t compress;
	int64_t delay_ms;
	uint64_t period;
	unsigned verbose;
	const char *build_id_folder;
	char usual_folder[4096]; /* from a configuration file */
	bool no_build_ids, no_cache, all_binaries;
	pid_t *pid_numbers, *tid_numbers, *parent_numbers;
	uint32_t *cpu_numbers;
	size_t cpu_count;
};

/* --- options that need a function --- */

static int take_event(void *to, const char *value, bool on, struct tally_error *error)
{
	struct tally_event_options options = {.size = sizeof(options)};
	struct tally_event_list *list = to;
	size_t before = list->count;
	int result;

	if (!on) {
		tally_event_list_done(to);
		*(struct tally_event_list *)to = (struct tally_event_list){0};
		return 0;
	}
	result = tally_event_list_append(to, value, &options, error);
	for (size_t i = before; !result && i < list->count; i++) {
		const struct tally_event *event = &list->events[i];

		if (event->warning)
			cli_say("record", "%s", event->warning);
		if (!event->tool)
			continue;
		error->code = result = -EOPNOTSUPP;
		error->position = -1;
		(void)snprintf(error->text, sizeof(error->text),
			       "%s cannot be sampled: tally computes it itself", event->name);
	}
	return result;
}

static bool is_call_graph(const char *value)
{
	static const char *const ways[] = {"auto", "fp", "dwarf", "lbr", "no"};
	size_t length = strcspn(value, ",");

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strlen(ways[i]) == length && !strncmp(ways[i], value, length))
			return true;
	return false;
}

static int take_call_graph(void *to, const char *value, bool on, struct tally_error *error)
{
	*(const char **)to = on ? value : NULL;
	if (!on || is_call_graph(value))
		return 0;
	return cli_refuse(
	    error, "'%s' is not a way to record call chains; valid are auto, fp, dwarf[,SIZE], lbr",
	    value);
}

/* The mode from the command line, else from a configuration file. */
static const char *call_graph(struct record *record)
{
	const char *mode = record->call_graph;

	if (!mode && record->callchain && record->record_mode[0])
		mode = record->record_mode;
	if (!mode || strcmp(mode, "dwarf") != 0 || !record->dump_size[0])
		return mode;
	snprintf(record->usual_call_graph, sizeof(record->usual_call_graph), "dwarf,%s",
		 record->dump_size);
	return record->usual_call_graph;
}

static int take_delay(void *to, const char *value, bool on, struct tally_error *error)
{
	uint64_t number = 0;
	int64_t *delay = to;

	if (!on) {
		*delay = 0;
		return 0;
	}
	if (!strcmp(value, "-1")) {
		*delay = -1;
		return 0;
	}
	if (tally_text_u64(value, &number) || number > INT_MAX)
		return cli_refuse(
		    error, "'%s' is not a delay: give a number of milliseconds, or -1", value);
	*delay = (int64_t)number;
	return 0;
}

static int take_level(void *to, const char *value, bool on, struct tally_error *error)
{
	uint64_t level = on;

	if (value && (tally_text_u64(value, &level) || !level || level > 22))
		return cli_refuse(error, "'%s' is not a level of zstd: give 1 to 22", value);
	*(uint64_t *)to = level;
	return 0;
}

/* --- what the options mean together --- */

static bool parse_user(const char *text, struct tally_recorder_options *options)
{
	struct passwd *user = getpwnam(text);
	uint64_t number;

	options->by_uid = true;
	if (user) {
		options->uid = user->pw_uid;
	} else if (!tally_text_u64(text, &number) && number < UINT_MAX) {
		options->uid = (uid_t)number;
	} else {
		cli_say("record", "unknown user '%s'", text);
		return false;
	}
	return true;
}

/* "512" pages, or a size with B, K, M or G as in perf; rounded up to a power of two later. */
static bool parse_ring(const char *text, size_t *ret_pages)
{
	static const char units[] = "BKMG";
	size_t length = strlen(text), page = (size_t)sysconf(_SC_PAGESIZE);
	char number[32];
	const char *unit;
	uint64_t value;

	unit = length ? strchr(units, text[length - 1]) : NULL;
	if (length && length < sizeof(number)) {
		memcpy(number, text, length + 1);
		if (unit)
			number[length - 1] = 0;
		if (!tally_text_u64(number, &value) && value && value <= UINT_MAX) {
			if (unit)
				value = ((value << (10 * (unit - units))) + page - 1) / page;
			if (value <= SIZE_MAX >> 16) {
				*ret_pages = (size_t)value;
				return true;
			}
		}
	}
	cli_say("record", "'%s' is not a ring size: give a number of pages, or bytes as 512K or 4M",
		text);
	return false;
}

static bool parse_frequency(const char *text, struct tally_recorder_options *options)
{
	if (!strcmp(text, "max")) {
		options->max_frequency = true;
		return true;
	}
	if (!tally_text_u64(text, &options->frequency) && options->frequency &&
	    options->frequency <= INT_MAX)
		return true;
	cli_say("record", "'%s' is not a frequency: give a number of samples per second, or max",
		text);
	return false;
}

static bool complete(struct record *record, struct tally_recorder_options *options)
{
	if (cli_parse_ids("record", &record->pids, "process", &record->pid_numbers) ||
	    cli_parse_ids("record", &record->tids, "thread", &record->tid_numbers) ||
	    cli_parse_ids("record", &record->parents, "process", &record->parent_numbers))
		return false;
	options->pids = record->pid_numbers;
	options->pid_count = record->pids.count;
	options->tids = record->tid_numbers;
	options->tid_count = record->tids.count;
	options->parents = record->parent_numbers;
	options->parent_count = record->parents.count;
	if (record->users.count > 1) {
		cli_say("record", "-u: only one user can be recorded at a time");
		return false;
	}
	if (record->users.count && !parse_user(record->users.items[0], options))
		return false;
	if (record->cpus) {
		if (tally_text_cpu_list(record->cpus, &record->cpu_numbers, &record->cpu_count) ||
		    !record->cpu_count) {
			cli_say("record", "'%s' is not a list of CPUs: give one as 0-3,7",
				record->cpus);
			return false;
		}
		options->cpus = record->cpu_numbers;
		options->cpu_count = record->cpu_count;
	}
	if (record->frequency && !parse_frequency(record->frequency, options))
		return false;
	return !record->ring || parse_ring(record->ring, &options->ring_pages);
}

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
	if (!status && at < argc && !strcmp(argv[at - 1], "-g") && is_call_graph(argv[at]))
		status =
		    cli_usage_error(usage, "-g takes no value: write --call-graph %s", argv[at]);
	return status;
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
	cli_say_error("record", &error);
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
}

static void say_notice(void *context, const char *text)
{
	const struct record *record = context;

	if (!record->quiet)
		cli_say(NULL, "%s", text);
}

/* 1234567 -> "1,234,567" */
static const char *grouped(uint64_t number, char room[32])
{
	char digits[24];
	size_t length =
	    (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
	size_t at = 0;

	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			room[at++] = ',';
		room[at++] = digits[i];
	}
	room[at] = 0;
	return room;
}

static void bytes_in_words(uint64_t bytes, char room[32])
{
	if (bytes < 1000000)
		snprintf(room, 32, "%.1f kB", (double)bytes / 1e3);
	else if (bytes < 1000000000)
		snprintf(room, 32, "%.1f MB", (double)bytes / 1e6);
	else
		snprintf(room, 32, "%.2f GB", (double)bytes / 1e9);
}

static void say_hidden_kernel(void)
{
	struct tally_limits limits = {.size = sizeof(limits)};

	tally_limits_read(NULL, &limits);
	if (limits.kptr_restrict >= 2)
		cli_say(NULL,
			"kernel functions have no names: kernel.kptr_restrict=%d hides them even "
			"from root; set it to 1",
			limits.kptr_restrict);
	else
		cli_say(NULL,
			"kernel functions have no names for this user: %s=%d hides them; report as "
			"root or with CAP_SYSLOG",
			limits.kptr_restrict ? "kernel.kptr_restrict"
					     : "kernel.perf_event_paranoid",
			limits.kptr_restrict ? limits.kptr_restrict : limits.paranoid);
}

/* A command that becomes a daemon ends at once, and the work of the daemon is not recorded. */
static void say_running(const struct tally_recorder_result *result)
{
	char list[96] = "", number[32];
	size_t length = 0;

	/* Processes that a person interrupted may still be ending. */
	if (!result->running_count || result->ended_by)
		return;
	for (size_t i = 0; i < result->running_count && length < sizeof(list); i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%d",
					   i ? "," : "", result->running[i]);
	cli_say(NULL,
		"the command has ended; %s process%s that it started still run%s and %s not "
		"recorded any more: -p %s records %s",
		grouped(result->running_count, number), result->running_count == 1 ? "" : "es",
		result->running_count == 1 ? "s" : "", result->running_count == 1 ? "is" : "are",
		length < sizeof(list) ? list : "PID,...",
		result->running_count == 1 ? "it" : "them");
}

/* Appends ", N why" when there are any. */
static size_t add_count(char *line, size_t room, size_t length, uint64_t count, const char *why)
{
	char number[32];
	int added;

	if (!count || length >= room)
		return length;
	added = snprintf(line + length, room - length, "%s%s %s", length ? ", " : "",
			 grouped(count, number), why);
	return added > 0 ? length + (size_t)added : length;
}

/* How many call chains are whole, and why the others are not. */
static void say_stacks(const struct tally_stack_counts *stacks)
{
	char line[512] = "", number[32], whole[32];
	size_t length = 0;

	if (!stacks->count)
		return;
	length = add_count(line, sizeof(line), length, stacks->copy_ended,
			   "where the copy of the stack ends");
	length = add_count(line, sizeof(line), length, stacks->unknown_code,
			   "in code without a readable file");
	length = add_count(line, sizeof(line), length, stacks->lost,
			   "at a frame without a valid caller");
	(void)add_count(line, sizeof(line), length, stacks->too_deep, "with too many frames");
	if (stacks->whole == stacks->count)
		cli_say(NULL, "all %s stacks are whole", grouped(stacks->count, number));
	else
		cli_say(NULL, "%s of %s stacks are whole; cut: %s", grouped(stacks->whole, whole),
			grouped(stacks->count, number), line);
	line[0] = 0;
	length = add_count(line, sizeof(line), 0, stacks->cut_copies,
			   "copies of stacks were made smaller");
	length = add_count(line, sizeof(line), length, (stacks->spilled_bytes + 999999) / 1000000,
			   "MB waited in a temporary file");
	length = add_count(line, sizeof(line), length, stacks->dropped,
			   "samples have the kernel's chain alone");
	if (length)
		cli_say(NULL, "unwinding was slower than sampling: %s; record less (-F, -c)", line);
}

static void say_result(const struct record *record, const char *output,
		       const struct tally_recorder_result *result)
{
	bool to_stdout = !strcmp(output, "-");
	char samples[32], lost[32], size[32], throttled[64] = "", number[32];

	bytes_in_words(result->bytes, size);
	if (result->throttled)
		snprintf(throttled, sizeof(throttled), ", throttled %s time%s",
			 grouped(result->throttled, number), result->throttled == 1 ? "" : "s");
	if (!record->quiet)
		cli_say(NULL, "%s sample%s in %s (%s), %s lost%s",
			grouped(result->samples, samples), result->samples == 1 ? "" : "s",
			to_stdout ? "standard output" : output, size,
			result->lost ? grouped(result->lost, lost) : "none", throttled);
	if (!record->quiet)
		say_stacks(&result->stacks);
	if (result->lost)
		cli_say(NULL,
			"%s record%s lost because the rings were full: record less (-F, -c), or "
			"use larger rings (-m 64M)",
			grouped(result->lost, lost), result->lost == 1 ? "" : "s");
	if (result->sideband_lost)
		cli_say(NULL,
			"%s of them described processes and maps: some samples will have no names",
			grouped(result->sideband_lost, lost));
	if (result->kernel_hidden && result->samples && !record->quiet)
		say_hidden_kernel();
	if (!record->quiet)
		say_running(result);
	if (!result->samples && !record->quiet && !record->delay_ms)
		cli_say(NULL, "no samples: the event did not happen during the recording");
}

/* The recording is complete: from here on a signal ends us at once. */
static void keep_binaries(const struct record *record, const char *output,
			  const struct tally_recorder_result *result)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	const struct cli_keep keep = {
	    .folder = cli_build_id_folder(record->build_id_folder, record->usual_folder),
	    .all = record->all_binaries,
	    .quiet = record->quiet,
	    .verbose = record->verbose > 0,
	    .held = result->held,
	    .held_count = result->held_count,
	};
	struct sigaction now;
	struct stat status;

	/* a pipe or /dev/null cannot be read again */
	if (record->no_cache || record->no_build_ids || !strcmp(output, "-") ||
	    stat(output, &status) || !S_ISREG(status.st_mode))
		return;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (!sigaction(signals[i], NULL, &now) && now.sa_handler == on_signal)
			signal(signals[i], SIG_DFL);
	cli_keep_binaries(output, &keep);
}

static int run(struct record *record, struct tally_recorder_options *options)
{
	const char *output = options->output;
	int own_failure = options->command ? CLI_OWN_FAILURE : CLI_FAILED, status;
	struct tally_recorder *recorder;
	struct tally_recorder_result result = {.size = sizeof(result)};
	struct tally_error error;
	bool complete = false;

	status = tally_recorder_new(options, &recorder, &error);
	if (status) {
		cli_say_error("record", &error);
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
	if (tally_recorder_run(recorder, &result, &error)) {
		int exec_error = tally_recorder_exec_error(recorder);

		cli_say_error("record", &error);
		status = exec_error == ENOENT ? CLI_NOT_FOUND
			 : exec_error         ? CLI_CANNOT_RUN
					      : own_failure;
	} else {
		/* The terminal shows ^C on this line: begin a new one. */
		if (result.ended_by == SIGINT && !record->quiet && isatty(STDERR_FILENO))
			fputc('\n', stderr);
		say_result(record, output, &result);
		complete = result.samples;
		status = cli_ending_status("record", options->command ? options->command[0] : NULL,
					   result.wait_status, result.ended_by);
	}
	stoppable = NULL;
	if (complete)
		keep_binaries(record, output, &result);
	tally_recorder_free(recorder);
	return status;
}

static const struct cli_rule rules[] = {
    {"-a", CLI_EXCLUDES, "-p,-t,--children-of,-u",
     "-a records the whole system, the others parts of it"},
    {"-u", CLI_EXCLUDES, "-p,-t,--children-of", "-u records all processes of a user"},
    {"-F,-c", CLI_ONE_OF, NULL, "samples are taken by time or by number of events"},
    {NULL},
};

static int parse_and_run(struct record *record, int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS] [--] COMMAND [ARGUMENTS]",
					    "[OPTIONS] -p PID,...", "[OPTIONS] -a", NULL};
	const struct cli_usage usage = {
	    .command = "record",
	    .forms = forms,
	    .about =
		"Runs a command, or watches running processes, and writes samples of where they "
		"spend their time to a perf.data file, which `tally report` and perf read.",
	    .rules = rules,
	};
	const struct cli_option options[] = {
	    {CLI_GROUP, .help = "What to watch"},
	    {CLI_LIST, 'p', "pid", "PID",
	     "processes with all their threads, and the children that they start from now on",
	     &record->pids},
	    {CLI_LIST, 0, "children-of", "PID", "processes with all their descendants",
	     &record->parents},
	    {CLI_LIST, 't', "tid", "TID", "single threads", &record->tids},
	    {CLI_LIST, 'u', "uid", "USER", "the processes of a user (name or number)",
	     &record->users},
	    {CLI_FLAG, 'a', "all-cpus", NULL, "the whole system", &record->system_wide},
	    {CLI_STRING, 'C', "cpu", "LIST",
	     "only on these CPUs: 0-3,7; without other targets: everything that runs there",
	     &record->cpus},
	    {CLI_FLAG, 'i', "no-inherit", NULL, "no children and no new threads",
	     &record->no_inherit},
	    {CLI_GROUP, .help = "What to sample"},
	    {CLI_CALL, 'e', "event", "EVENT", "events, by perf's names (default: cycles)",
	     &record->events, .call = take_event},
	    {CLI_STRING, 'F', "freq", "HZ", "samples per second, or max (default: 4000)",
	     &record->frequency},
	    {CLI_U64, 'c', "count", "N", "one sample every N events, instead of a frequency",
	     &record->period},
	    {CLI_FLAG, 'g', NULL, NULL, "call chains, as --call-graph auto", &record->callchain,
	     .with_value = "call-graph"},
	    {CLI_CALL, 0, "call-graph", "HOW",
	     "record call chains by auto (unwound while recording, else fp), fp (frame pointers), "
	     "dwarf[,SIZE] (unwound; copies of the stack of SIZE bytes) or lbr",
	     &record->call_graph, .call = take_call_graph},
	    {CLI_FLAG, 0, "keep-stacks", NULL,
	     "write copies of the stack to the file, as perf does, instead of unwinding them",
	     &record->keep_stacks},
	    {CLI_STRING, 0, "stacks-output", "FILE",
	     "also write the same samples with copies of the stack, to compare call chains",
	     &record->stacks_output},
	    {CLI_CALL, 'D', "delay", "MS",
	     "start this many milliseconds after the command; -1: do not start", &record->delay_ms,
	     .call = take_delay},
	    {CLI_GROUP, .help = "Output"},
	    {CLI_STRING, 'o', "output", "FILE",
	     "the recording; - is a stream to standard output (default: perf.data, or a stream "
	     "when standard output is a pipe)",
	     &record->output},
	    {CLI_CALL, 'z', "compression-level", "LEVEL",
	     "compress records with zstd, level 1 (default) to 22", &record->compress,
	     .flags = CLI_OPTIONAL | CLI_ATTACHED, .call = take_level},
	    {CLI_STRING, 'm', "mmap-pages", "SIZE",
	     "size of each CPU's ring, in pages or as 512K, 4M (default: what the limits allow)",
	     &record->ring},
	    {CLI_FLAG, 'N', "no-buildid-cache", NULL,
	     "do not copy the sampled binaries to the build-id cache", &record->no_cache},
	    {CLI_FLAG, 'B', "no-buildid", NULL, "the same, and write no table of build-ids",
	     &record->no_build_ids},
	    {CLI_FLAG, 0, "buildid-all", NULL, "also keep binaries without samples",
	     &record->all_binaries},
	    {CLI_STRING, 0, "buildid-dir", "DIR",
	     "where copies of binaries are kept (default: ~/.debug)", &record->build_id_folder},
	    {CLI_FLAG, 'q', "quiet", NULL, "print errors only", &record->quiet},
	    {CLI_COUNT, 'v', "verbose", NULL, "print more", &record->verbose},
	    {.kind = CLI_END},
	};
	struct tally_recorder_options wanted = {
	    .size = sizeof(wanted),
	    .notice = say_notice,
	    .notice_context = record,
	};
	const char **cmdline;
	int status, at = cli_parse(&usage, options, argc, argv, &status);

	if (at < 0)
		return status;
	status = check_command(&usage, record, argc, argv, at);
	if (status)
		return status;
	if (!complete(record, &wanted))
		return CLI_USAGE;
	if (at < argc)
		wanted.command = argv + at;
	else if (!record->pids.count && !record->tids.count && !record->parents.count &&
		 !record->users.count && !record->system_wide && !record->cpu_count)
		return cli_usage_error(&usage,
				       "nothing to record: give a command, or -p, -t, -u or -a");
	if (!find_places(record, &wanted))
		return wanted.command ? CLI_OWN_FAILURE : CLI_FAILED;
	/* The file keeps the command line, with the name of the program. */
	cmdline = calloc((size_t)argc + 1, sizeof(*cmdline));
	if (!cmdline) {
		cli_say("record", "out of memory");
		return CLI_FAILED;
	}
	cmdline[0] = "tally";
	for (int i = 0; i < argc; i++)
		cmdline[i + 1] = argv[i];
	wanted.cmdline = cmdline;
	wanted.cmdline_count = (size_t)argc + 1;
	wanted.output = cli_recording_output(record->output);
	wanted.events = &record->events;
	wanted.system_wide = record->system_wide;
	wanted.period = record->period;
	wanted.callchain = record->callchain;
	wanted.call_graph = call_graph(record);
	wanted.keep_stacks = record->keep_stacks;
	wanted.stacks_output = record->stacks_output;
	wanted.no_inherit = record->no_inherit;
	wanted.delay_ms = record->delay_ms;
	wanted.compress_level = (int)record->compress;
	wanted.no_build_ids = record->no_build_ids;
	wanted.verbose = record->verbose > 0;
	status = run(record, &wanted);
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

int cmd_record(int argc, char **argv)
{
	struct record record = {0};
	int status = cli_settings_apply("record", cmd_record_settings, &record);

	if (!status)
		status = parse_and_run(&record, argc, argv);

	tally_event_list_done(&record.events);
	cli_list_done(&record.pids);
	cli_list_done(&record.tids);
	cli_list_done(&record.parents);
	cli_list_done(&record.users);
	free(record.pid_numbers);
	free(record.tid_numbers);
	free(record.parent_numbers);
	free(record.cpu_numbers);
	return status;
}
