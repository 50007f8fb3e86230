/* `tally stat`: counts of a command, of running processes, or of the whole system. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include <unistd.h>
#include "cgroup_patterns.h"
#include "command.h"
#include "ids.h"
#include "recording.h"
#include "say.h"
#include "set_uid.h"
#include "stat_command.h"

/* --- options that need a function --- */

static int take_event(void *to, const char *value, bool on, struct tally_error *error)
{
	struct tally_event_options options = {.size = sizeof(options), .command = "stat"};
	struct stat_ask *ask = to;
	size_t before = ask->events.count;
	int result;

	if (!on) {
		tally_event_list_done(&ask->events);
		ask->events = (struct tally_event_list){0};
		return 0;
	}
	result = tally_event_list_append(&ask->events, value, &options, error);
	for (size_t i = before; !result && i < ask->events.count; i++) {
		const struct tally_event *event = &ask->events.events[i];

		if (event->warning)
			cli_say("stat", "%s", event->warning);
	}
	if (!result)
		result = stat_events_of_core(ask, before);
	if (!result && ask->events.count == before)
		return cli_refuse(error, "'%s' is not an event of %s", value, ask->core);
	return result;
}

/* A kind of core by the name of its PMU: "atom" for cpu_atom. */
static int take_core_type(void *to, const char *value, bool on, struct tally_error *error)
{
	struct stat_ask *ask = to;
	char path[128];

	ask->core = NULL;
	if (!on)
		return 0;
	if (ask->events.count || ask->metric_names.count)
		return cli_refuse(error,
				  "it applies to the events after it: give it before -e and -M");
	snprintf(ask->core_name, sizeof(ask->core_name), "cpu_%s", value);
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/cpus", ask->core_name);
	if (strchr(value, '/') || strlen(value) > 20 || access(path, F_OK))
		return cli_refuse(
		    error, "'%s' is not a kind of core of this machine: there is no PMU cpu_%s",
		    value, value);
	ask->core = ask->core_name;
	return 0;
}

/* Options of perf that Tally lacks: the message says why, instead of suggesting a similar name. */
static int refuse_iostat(void *to, const char *value, bool on, struct tally_error *error)
{
	(void)to;
	(void)value;
	(void)on;
	return cli_refuse(error, "tally cannot print the traffic of PCIe root ports; name their "
				 "counters instead: -a -e uncore_iio_0/.../, see `tally list`");
}

static int refuse_bpf(void *to, const char *value, bool on, struct tally_error *error)
{
	(void)to;
	(void)value;
	(void)on;
	return cli_refuse(error, "tally cannot count with or in BPF programs; count the processes "
				 "that run them: -a, -p or --for-each-cgroup");
}

static int refuse_pfm(void *to, const char *value, bool on, struct tally_error *error)
{
	(void)to;
	(void)value;
	(void)on;
	return cli_refuse(error, "use -e pfm:NAME for libpfm4's names");
}

static int take_filter(void *to, const char *value, bool on, struct tally_error *error)
{
	struct stat_ask *ask = to;
	struct stat_filter *more;

	if (!on) {
		ask->filter_count = 0;
		return 0;
	}
	if (!ask->events.count)
		return cli_refuse(error, "it applies to the event before it: give -e first");
	more = reallocarray(ask->filters, ask->filter_count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	ask->filters = more;
	more[ask->filter_count++] =
	    (struct stat_filter){.event = ask->events.count - 1, .text = value};
	return 0;
}

static int take_repeat(void *to, const char *value, bool on, struct tally_error *error)
{
	struct stat_ask *ask = to;

	ask->repeat = 1;
	ask->repeat_given = on;
	if (on && (tally_text_u64(value, &ask->repeat) || ask->repeat > 1000000))
		return cli_refuse(error, "'%s' is not a number of runs; 0 means without end",
				  value);
	return 0;
}

/* --no-metric-only is for --topdown, which prints only metrics by default. */
static int take_metric_only(void *to, const char *value, bool on, struct tally_error *error)
{
	struct stat_ask *ask = to;

	(void)value;
	(void)error;
	ask->metric_only = on;
	ask->no_metric_only = !on;
	return 0;
}

static int take_delay(void *to, const char *value, bool on, struct tally_error *error)
{
	uint64_t number = 0;
	int64_t *delay = to;

	*delay = 0;
	if (!on)
		return 0;
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

/* --- what they mean together --- */

static int choose_targets(struct stat_ask *ask)
{
	int status = cli_parse_ids("stat", &ask->pids, "process", &ask->pid_numbers);

	if (!status)
		status = cli_parse_ids("stat", &ask->tids, "thread", &ask->tid_numbers);
	if (!status)
		status = cli_parse_ids("stat", &ask->parents, "process", &ask->parent_numbers);
	if (status)
		return status;
	if (ask->cpus &&
	    (tally_text_cpu_list(ask->cpus, &ask->cpu_numbers, &ask->cpu_count) || !ask->cpu_count))
		return cli_usage_error(ask->usage, "'%s' is not a list of CPUs: give one as 0-3,7",
				       ask->cpus);
	ask->pid_count = ask->pids.count;
	/* Without a target, the whole system is counted. */
	if (!ask->command && !stat_has_tasks(ask) && !ask->cpu_count)
		ask->system_wide = true;
	ask->every_thread = ask->system_wide && ask->by == TALLY_STAT_THREAD && !ask->cpu_count;
	return CLI_OK;
}

/* When all events count only whole CPUs, as those of memory controllers do, a command is counted as
 * the whole system while it runs, as in perf. */
static void widen_target(struct stat_ask *ask)
{
	bool any = false;

	for (size_t i = 0; i < ask->events.count; i++) {
		const struct tally_event *event = &ask->events.events[i];

		if (event->tool == TALLY_TOOL_DURATION_TIME)
			continue;
		if (!event->cpus || !event->pmu || !strncmp(event->pmu, "cpu", 3))
			return;
		any = true;
	}
	if (any && stat_counts_command(ask))
		ask->system_wide = true;
}

/* Which options exclude or need each other.  Rules that depend on values or on events are checked
 * after parsing, in check_together(). */
static const struct cli_rule rules[] = {
    {"-x,-j,--json", CLI_ONE_OF, NULL, "each is a format of the whole output"},
    {"-o,--log-fd", CLI_ONE_OF, NULL, "the counts go to one place"},
    {"-a", CLI_EXCLUDES, "-p,-t,--children-of",
     "-a counts the whole system, the others parts of it"},
    {"--all-user,--all-kernel", CLI_ONE_OF, NULL, "each leaves out what the other one counts"},
    {"-G,--for-each-cgroup", CLI_ONE_OF, NULL,
     "-G gives each event its cgroup, --for-each-cgroup counts all events in each"},
    {"--cputype", CLI_EXCLUDES, "-M", "metrics name the kinds of core of their events themselves"},
    {"--metric-only", CLI_EXCLUDES, "--per-thread", "metrics have no rows of threads"},
    {"--per-thread", CLI_NEEDS, "-a,-p,-t,--children-of",
     "only running processes can be counted by threads", .with = "COMMAND"},
    {"--per-thread", CLI_NEEDS, "-p,-t,--children-of",
     "the threads of the whole system are counted on all CPUs", .with = "-C"},
    {"-r", CLI_NEEDS, "COMMAND", "it repeats a command"},
    {"--table", CLI_NEEDS, "-r", "it shows the time of each run"},
    {"--td-level", CLI_NEEDS, "--topdown", "it is the level of that"},
    {"--interval-count", CLI_NEEDS, "-I", "it counts intervals"},
    {"--interval-clear", CLI_NEEDS, "-I", "it clears the screen before each interval"},
    {"--timeout", CLI_EXCLUDES, "-I", "--interval-count ends after so many intervals"},
    {"--until,--warmup", CLI_NEEDS, "--compare", "they choose the runs of a comparison"},
    {"--compare", CLI_EXCLUDES,
     "-a,-C,-p,-t,--children-of,-A,--per-thread,--per-core,--per-cluster,--per-cache,--per-die,"
     "--per-socket,--per-node",
     "it counts the commands that it runs, each as a whole"},
    {"--compare", CLI_EXCLUDES, "-I,--timeout,--control,--table,--metric-only",
     "it compares whole runs"},
    {"--compare", CLI_EXCLUDES, "-x,-j", "its formats are a table and --json"},
    {"record", CLI_EXCLUDES, "-r,--compare", "a recording holds one run"},
    {"record", CLI_EXCLUDES, "-G,--for-each-cgroup", "a recording cannot hold counts by cgroup"},
    {"record", CLI_EXCLUDES, "--per-cluster,--per-cache",
     "a recording cannot hold counts by cluster or cache; use -A, by CPU"},
    {NULL},
};

static int check_together(const struct stat_ask *ask)
{
	bool wide = stat_has_cpus(ask), percore = false;

	if (ask->table && ask->repeat < 2)
		return cli_usage_error(ask->usage, "--table shows several runs: give -r 2 or more");
	if (ask->by != TALLY_STAT_GLOBAL && ask->by != TALLY_STAT_THREAD && !wide)
		return cli_usage_error(ask->usage, "counts by parts of the machine need CPUs to "
						   "count on: give -a or -C");
	if ((ask->cgroups.count || ask->each_cgroup.count) && !wide)
		return cli_usage_error(ask->usage, "cgroups are counted on CPUs: give -a or -C");
	if (ask->cgroups.count > 1 && ask->cgroups.count != ask->events.count)
		return cli_usage_error(ask->usage,
				       "-G has %zu cgroups for %zu events: give one for each "
				       "event, or one for all",
				       ask->cgroups.count, ask->events.count);
	for (size_t i = 0; i < ask->events.count; i++)
		percore |= ask->events.events[i].terms.percore;
	if (percore && ask->by != TALLY_STAT_CPU)
		return cli_usage_error(ask->usage,
				       "the term percore needs a row for each CPU: give -A, or "
				       "--per-core without the term");
	if (ask->percore_each && !percore)
		return cli_usage_error(ask->usage, "--percore-show-thread needs an event with the "
						   "term percore: -e cpu/cycles,percore/");
	if (ask->timeout_ms && ask->timeout_ms < 10)
		return cli_usage_error(ask->usage, "--timeout: the minimum is 10 ms");
	if (ask->compare && !stat_counts_command(ask))
		return cli_usage_error(ask->usage, "--compare: all of these events count whole "
						   "CPUs, not a command");
	if (ask->compare && ask->repeat_given && ask->repeat < 2)
		return cli_usage_error(ask->usage, "--compare needs at least two runs: give -r 2");
	if (ask->compare && ask->until < 0)
		return cli_usage_error(ask->usage, "--until: the percentage is negative");
	return CLI_OK;
}

static int complete(struct stat_ask *ask)
{
	int status = choose_targets(ask);

	if (!status)
		status = stat_events_place(ask);
	if (!status)
		status = stat_metrics_find(ask);
	if (!status)
		status = stat_events_complete(ask);
	if (!status) {
		widen_target(ask);
		status = check_together(ask);
	}
	if (ask->separator && !strcmp(ask->separator, "\\t"))
		ask->separator = "\t";
	return status;
}

/* -o is the recording's name then. */
static void prepare_record(struct stat_ask *ask)
{
	ask->recording = cli_recording_output(ask->output);
	ask->output = NULL;
	/* With a stream on standard output nothing else is printed, as in perf. */
	ask->quiet |= !strcmp(ask->recording, "-");
}

/* What the counts of the command itself will lack. */
static void say_set_uid(const struct stat_ask *ask)
{
	/* Formats for programs use the same descriptor. */
	if (!ask->command || ask->system_wide || ask->cpus || ask->pids.count || ask->tids.count ||
	    ask->parents.count || ask->quiet || ask->separator || ask->perf_json || ask->json)
		return;
	if (cli_gains_rights(ask->command[0]))
		cli_say("stat",
			"%s is a set-uid program: the kernel does not show such programs to this "
			"user, so its counts end where it starts; run tally as root to count it",
			ask->command[0]);
}

static int parse_and_run(struct stat_ask *ask, int argc, char **argv)
{
	const struct cli_option options[] = {
	    {CLI_GROUP, .help = "What to count"},
	    {CLI_CALL, 'e', "event", "EVENT", "events, by perf's names", ask, .call = take_event},
	    {CLI_CALL, 0, "filter", "FILTER", "for the tracepoint before it: \"prev_pid == 0\"",
	     ask, .call = take_filter},
	    {CLI_LIST, 'M', "metrics", "METRIC",
	     "metrics or groups of metrics, from the CPU's tables", &ask->metric_names},
	    {CLI_FLAG, 0, "metric-no-group", NULL, "do not put the events of a metric into groups",
	     &ask->metric_no_group},
	    {CLI_FLAG, 0, "metric-no-merge", NULL, "do not share events between metrics",
	     &ask->metric_no_merge},
	    {CLI_FLAG, 0, "metric-no-threshold", NULL,
	     "do not count events that only serve a metric's threshold", &ask->metric_no_threshold},
	    {CLI_COUNT, 'd', "detailed", NULL,
	     "also caches; -dd: also TLBs and instruction caches, -ddd: also prefetches",
	     &ask->detailed},
	    {CLI_FLAG, 'T', "transaction", NULL, "transactional memory", &ask->transaction},
	    {CLI_FLAG, 0, "topdown", NULL, "how the slots of the pipeline were used",
	     &ask->topdown},
	    {CLI_U64, 0, "td-level", "N",
	     "level of --topdown: 1, or 2 if the CPU has it (default: the highest)",
	     &ask->topdown_level},
	    {CLI_FLAG, 0, "smi-cost", NULL, "the cost of interrupts of the firmware",
	     &ask->smi_cost},
	    {CLI_FLAG, 'n', "null", NULL, "only the time", &ask->null_run},
	    {CLI_FLAG, 'g', "group", NULL, "all events as one group", &ask->group},
	    {CLI_FLAG, 0, "all-user", NULL, "only user space, for all events", &ask->all_user},
	    {CLI_FLAG, 0, "all-kernel", NULL, "only the kernel, for all events", &ask->all_kernel},
	    {CLI_FLAG, 0, "no-scale", NULL,
	     "do not scale counts of events that shared a hardware counter", &ask->no_scale},
	    {CLI_FLAG, 0, "no-merge", NULL, "a row for each PMU of an event", &ask->no_merge},
	    {CLI_FLAG, 0, "hybrid-merge", NULL, "one row for an event of several kinds of core",
	     &ask->hybrid_merge},
	    {CLI_CALL, 0, "cputype", "KIND",
	     "of the events after it, only those of this kind of core: core, atom", ask,
	     .call = take_core_type},
	    {CLI_GROUP, .help = "What to watch"},
	    {CLI_LIST, 'p', "pid", "PID",
	     "processes with all their threads, and the children that they start from now on",
	     &ask->pids},
	    {CLI_LIST, 0, "children-of", "PID", "processes with all their descendants",
	     &ask->parents},
	    {CLI_LIST, 't', "tid", "TID", "single threads", &ask->tids},
	    {CLI_FLAG, 'a', "all-cpus", NULL, "the whole system (default without a command)",
	     &ask->system_wide},
	    {CLI_STRING, 'C', "cpu", "LIST", "everything that runs on these CPUs: 0-3,7",
	     &ask->cpus},
	    {CLI_LIST, 'G', "cgroup", "NAME", "in this cgroup; a list: one for each event",
	     &ask->cgroups},
	    {CLI_LIST, 0, "for-each-cgroup", "NAME,...",
	     "all events in each of these cgroups, names or patterns", &ask->each_cgroup},
	    {CLI_FLAG, 'i', "no-inherit", NULL, "no children and no new threads", &ask->no_inherit},
	    {CLI_GROUP, .help = "When"},
	    {CLI_CALL, 'r', "repeat", "N", "run the command N times, print mean and spread", ask,
	     .call = take_repeat},
	    {CLI_FLAG, 0, "compare", NULL,
	     "each argument is a command: run them in turn and compare them", &ask->compare},
	    {CLI_U64, 0, "warmup", "N",
	     "with --compare: runs of each command that do not count (default: 1)", &ask->warm_up},
	    {CLI_DOUBLE, 0, "until", "PERCENT",
	     "with --compare: run until the times are known to this precision", &ask->until},
	    {CLI_U64, 'I', "interval-print", "MS", "print the counts every MS milliseconds",
	     &ask->interval_ms},
	    {CLI_U64, 0, "interval-count", "N", "end after this many intervals",
	     &ask->interval_count},
	    {CLI_FLAG, 0, "interval-clear", NULL, "clear the screen before each interval",
	     &ask->interval_clear},
	    {CLI_FLAG, 0, "summary", NULL, "print the total of all intervals, too", &ask->summary},
	    {CLI_CALL, 'D', "delay", "MS",
	     "start this many milliseconds after the command; -1: when --control says so",
	     &ask->delay_ms, .call = take_delay},
	    {CLI_U64, 0, "timeout", "MS", "end after this many milliseconds", &ask->timeout_ms},
	    {CLI_STRING, 0, "control", "WHERE",
	     "take orders (enable, disable, ping, stop) from fd:N[,M] or fifo:PATH[,PATH]",
	     &ask->control},
	    {CLI_STRING, 0, "pre", "COMMAND", "run this before each run", &ask->before},
	    {CLI_STRING, 0, "post", "COMMAND", "run this after each run", &ask->after},
	    {CLI_FLAG, 'S', "sync", NULL, "call sync(2) before each run", &ask->sync},
	    {CLI_GROUP, .help = "Rows"},
	    {CLI_SET, 'A', "no-aggr", NULL, "a row for each CPU", &ask->by,
	     .number = TALLY_STAT_CPU},
	    {CLI_SET, 0, "per-thread", NULL, "a row for each thread, with -p, -t or -a", &ask->by,
	     .number = TALLY_STAT_THREAD},
	    {CLI_SET, 0, "per-core", NULL, "a row for each core", &ask->by,
	     .number = TALLY_STAT_CORE},
	    {CLI_SET, 0, "per-cluster", NULL, "a row for each cluster of cores", &ask->by,
	     .number = TALLY_STAT_CLUSTER},
	    {CLI_SET, 0, "per-cache", NULL, "a row for the CPUs that share a last-level cache",
	     &ask->by, .number = TALLY_STAT_CACHE},
	    {CLI_SET, 0, "per-die", NULL, "a row for each die", &ask->by, .number = TALLY_STAT_DIE},
	    {CLI_SET, 0, "per-socket", NULL, "a row for each socket", &ask->by,
	     .number = TALLY_STAT_SOCKET},
	    {CLI_SET, 0, "per-node", NULL, "a row for each NUMA node", &ask->by,
	     .number = TALLY_STAT_NODE},
	    {CLI_FLAG, 0, "percore-show-thread", NULL,
	     "events with the term percore: print the core's count for each of its CPUs",
	     &ask->percore_each},
	    {CLI_GROUP, .help = "Output"},
	    {CLI_STRING, 'x', "field-separator", "SEPARATOR", "CSV, as perf", &ask->separator,
	     CLI_EMPTY},
	    {CLI_FLAG, 'j', "json-output", NULL, "JSON lines, as perf", &ask->perf_json},
	    {CLI_FLAG, 0, "json", NULL, "JSON with everything that is known of each count",
	     &ask->json},
	    {CLI_STRING, 'o', "output", "FILE", "write here instead of standard error",
	     &ask->output},
	    {CLI_FLAG, 0, "append", NULL, "append to the file of -o", &ask->append},
	    {CLI_U64, 0, "log-fd", "FD", "write to this descriptor", &ask->log_fd},
	    {CLI_CALL, 0, "metric-only", NULL, "metrics without counts", ask, CLI_BARE,
	     take_metric_only},
	    {CLI_FLAG, 0, "no-csv-summary", NULL, "CSV: no mark on the lines of --summary",
	     &ask->no_csv_summary},
	    {CLI_FLAG, 'B', "big-num", NULL, "print 1,234,567 instead of 1234567 (default)",
	     &ask->big_num},
	    {CLI_FLAG, 0, "table", NULL, "print the time of each run, with -r", &ask->table},
	    {CLI_FLAG, 0, "quiet", NULL, "print no counts", &ask->quiet},
	    {CLI_COUNT, 'v', "verbose", NULL, "print more", &ask->verbose},
	    {CLI_CALL, 0, "iostat", "PORTS", NULL, ask, CLI_OPTIONAL | CLI_ATTACHED | CLI_HIDDEN,
	     refuse_iostat},
	    {CLI_CALL, 0, "bpf-counters", NULL, NULL, ask, CLI_BARE | CLI_HIDDEN, refuse_bpf},
	    {CLI_CALL, 'b', "bpf-prog", "ID", NULL, ask, CLI_HIDDEN, refuse_bpf},
	    {CLI_CALL, 0, "bpf-attr-map", "PATH", NULL, ask, CLI_HIDDEN, refuse_bpf},
	    {CLI_CALL, 0, "pfm-events", "EVENT", NULL, ask, CLI_HIDDEN, refuse_pfm},
	    {.kind = CLI_END},
	};
	struct stat_output output;
	int status, at = cli_parse(ask->usage, options, argc, argv, &status);

	if (at < 0)
		return status;
	ask->record = ask->usage->given->subcommand;
	if (at < argc && !ask->record && strcmp(argv[at - 1], "--") != 0 &&
	    !strcmp(argv[at], "report"))
		return stat_report(argc - at, argv + at);
	ask->command = at < argc ? argv + at : NULL;
	status = cli_ids_check_words(ask->usage, "-p", &ask->pids, argc, argv, at);
	if (!status)
		status = cli_ids_check_words(ask->usage, "-t", &ask->tids, argc, argv, at);
	if (!status)
		status = cli_cgroups_expand("stat", &ask->each_cgroup);
	if (!status)
		status = complete(ask);
	if (status)
		return status;
	if (ask->record)
		prepare_record(ask);
	/* Formats for programs use the same descriptor. */
	if (!ask->no_inherit && !ask->quiet && !ask->separator && !ask->perf_json && !ask->json)
		cli_ids_report_children(ask->pid_numbers, ask->pids.count, "counted");
	say_set_uid(ask);
	status = stat_output_open(&output, ask);
	if (status && ask->command)
		status = CLI_OWN_FAILURE;
	if (!status)
		status = stat_smi_freeze(ask);
	if (!status)
		status = ask->compare ? stat_compare(ask, &output) : stat_run(ask, &output);
	stat_smi_done(ask);
	return stat_output_close(&output) ? CLI_FAILED : status;
}

const struct cli_setting cmd_stat_settings[] = {
    {"stat.big-num", "--big-num", CLI_SETTING_BOOL, offsetof(struct stat_ask, big_num)},
    {.key = NULL},
};

int cmd_stat(int argc, char **argv)
{
	static const char *const forms[] = {
	    "[OPTIONS] [--] COMMAND [ARGUMENTS]",      "[OPTIONS] -p PID,...",    "[OPTIONS] -a",
	    "record [OPTIONS] [-o FILE] [--] COMMAND", "report [OPTIONS] [FILE]", NULL};
	struct cli_given given;
	const struct cli_usage usage = {
	    .command = "stat",
	    .forms = forms,
	    .rules = rules,
	    .subcommand = "record",
	    .given = &given,
	    .about = "Counts events of a command, of running processes, or of the whole system, "
		     "and computes metrics from the counts.",
	};
	struct stat_ask ask = {.usage = &usage, .repeat = 1, .big_num = true, .warm_up = 1};
	/* A recording keeps the command line, with the name of the program. */
	const char **cmdline = calloc((size_t)argc + 1, sizeof(*cmdline));
	int status;

	if (!cmdline) {
		cli_say("stat", "out of memory");
		return CLI_FAILED;
	}
	cmdline[0] = "tally";
	for (int i = 0; i < argc; i++)
		cmdline[i + 1] = argv[i];
	ask.cmdline = cmdline;
	ask.cmdline_count = (size_t)argc + 1;
	status = cli_settings_apply("stat", cmd_stat_settings, &ask);
	if (!status)
		status = parse_and_run(&ask, argc, argv);
	free(cmdline);

	tally_event_list_done(&ask.events);
	cli_list_done(&ask.pids);
	cli_list_done(&ask.tids);
	cli_list_done(&ask.parents);
	cli_list_done(&ask.cgroups);
	cli_list_done(&ask.each_cgroup);
	cli_list_done(&ask.metric_names);
	tally_metrics_free(ask.metrics);
	free(ask.filters);
	free(ask.pid_numbers);
	free(ask.tid_numbers);
	free(ask.parent_numbers);
	free(ask.cpu_numbers);
	return status;
}
