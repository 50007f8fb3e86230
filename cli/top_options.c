#include "top_options.h"

#include <string.h>
#include "command.h"
#include "config.h"
#include "say.h"
#include "two_words.h"

static int take_keys(void *to, const char *value, bool on, struct tally_error *error)
{
	struct top_options *options = to;

	options->key_count = 0;
	while (on && *value) {
		size_t length = strcspn(value, ",");
		const char *key = tally_key_find(value, length);

		if (!key)
			return cli_refuse_word(error, value, length, "sort key", tally_key_name);
		if (options->key_count == TOP_KEYS_MOST)
			return cli_refuse(error, "more than %d sort keys", TOP_KEYS_MOST);
		options->keys[options->key_count++] = key;
		value += length + (value[length] == ',');
	}
	return 0;
}

static int take_tui(void *to, const char *value, bool on, struct tally_error *error)
{
	bool wanted = false;

	if (on && cli_config_bool(value, &wanted))
		return cli_refuse(error, "'%s' is not true or false", value);
	*(bool *)to = !wanted;
	return 0;
}

const struct cli_setting cmd_top_settings[] = {
    {"tui.top", "--tui", CLI_SETTING_CALL, offsetof(struct top_options, stdio), .call = take_tui},
    {.key = NULL},
};

/* --- rows --- */

static size_t record_rows(struct top_options *options, struct cli_option *to)
{
	struct record *record = &options->record;
	const struct cli_option rows[] = {
	    {CLI_STRING, 'm', "mmap-pages", "PAGES",
	     "size of each ring: pages, or bytes as 512K or 4M", &record->ring},
	    {CLI_U64, 'r', "realtime", "PRIORITY",
	     "the recorder runs with this real-time priority (SCHED_FIFO), 1 to 99",
	     &record->realtime},
	    {CLI_FLAG, 0, "namespaces", NULL, "record namespaces of threads", &record->namespaces},
	    {CLI_FLAG, 0, "all-cgroups", NULL, "record the cgroup of each sample, for -s cgroup",
	     &record->cgroup_records},
	    {CLI_FLAG, 0, "no-bpf-event", NULL, "no records about BPF programs",
	     &record->no_bpf_events},
	    {CLI_U64, 0, "num-thread-synthesize", "N", "so many threads describe what already runs",
	     &record->synth_threads},
	    {CLI_U64, 0, "proc-map-timeout", "MS",
	     "at most so many milliseconds for the maps of one process (default: no limit)",
	     &record->maps_timeout},
	    {CLI_GROUP, .help = "Call stacks"},
	    {CLI_FLAG, 'g', NULL, NULL, "call chains, as --call-graph auto", &record->callchain,
	     .with_value = "call-graph"},
	    {CLI_CALL, 0, "call-graph", "HOW",
	     "record call chains by auto (unwound, else fp), fp (frame pointers), dwarf[,SIZE] "
	     "or lbr",
	     &record->call_graph, .call = record_take_call_graph, .word = record_call_graph_word},
	    {CLI_U64, 0, "max-stack", "FRAMES", "use only so many frames of each chain",
	     &options->max_stack},
	    {CLI_FLAG, 0, "children", NULL,
	     "with call chains: a function's share with what it called (default); --no-children: "
	     "only its own",
	     &options->children},
	    {CLI_STRING, 0, "ignore-callees", "REGEX",
	     "what these functions call counts as their own", &options->ignore_callees},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}

static void show_rows(struct top_options *options, struct cli_option *to)
{
	const struct cli_option rows[] = {
	    {CLI_GROUP, .help = "What to show"},
	    {CLI_CALL, 's', "sort", "KEYS",
	     "the keys that rows are made of: {} (default: dso,symbol)", options, .call = take_keys,
	     .word = tally_key_name},
	    {CLI_DOUBLE, 'd', "delay", "SECONDS", "time between two refreshes (default: 2)",
	     &options->delay},
	    {CLI_DOUBLE, 0, "refresh", "SECONDS", NULL, &options->delay, CLI_HIDDEN},
	    {CLI_FLAG, 'z', "zero", NULL,
	     "begin anew at each refresh, instead of letting older samples fade", &options->zero},
	    {CLI_FLAG, 'K', "hide_kernel_symbols", NULL, "no rows of the kernel",
	     &options->hide_kernel},
	    {CLI_FLAG, 0, "hide-kernel-symbols", NULL, NULL, &options->hide_kernel, CLI_HIDDEN},
	    {CLI_FLAG, 'U', "hide_user_symbols", NULL, "no rows of user space",
	     &options->hide_user},
	    {CLI_FLAG, 0, "hide-user-symbols", NULL, NULL, &options->hide_user, CLI_HIDDEN},
	    {CLI_LIST, 0, "comms", "NAMES", "only these commands", &options->filter.comms},
	    {CLI_LIST, 0, "dsos", "NAMES", "only samples in these binaries", &options->filter.dsos},
	    {CLI_LIST, 0, "symbols", "NAMES", "only samples in these functions",
	     &options->filter.symbols},
	    {CLI_CALL, 0, "percentage", "OF",
	     "with a filter, what 100 % is: absolute, all samples of the event (default), or "
	     "relative, the samples that pass",
	     &options->relative, .call = cli_take_percentage},
	    {CLI_DOUBLE, 0, "percent-limit", "PERCENT", "leave out rows below this share",
	     &options->percent_limit},
	    {CLI_U64, 'f', "count-filter", "N", "leave out rows with fewer samples",
	     &options->samples_least},
	    {CLI_FLAG, 'n', "show-nr-samples", NULL, "a column with the number of samples",
	     &options->show_samples},
	    {CLI_FLAG, 0, "show-total-period", NULL, "a column with the sum of periods",
	     &options->show_period},
	    {CLI_STRING, 0, "kallsyms", "FILE", "the kernel's symbols, instead of /proc/kallsyms",
	     &options->kallsyms},
	    {CLI_STRING, 'k', "vmlinux", "FILE", "the kernel's image, for its symbols",
	     &options->vmlinux},
	    {CLI_FLAG, 0, "no-demangle", NULL, "do not demangle symbols", &options->no_demangle},
	    {CLI_CALL, 'M', "disassembler-style", "STYLE", "of code on x86: att (default) or intel",
	     &options->intel, .call = cli_take_syntax},
	    {CLI_FLAG, 0, "source", NULL, "source lines among the instructions of code (default)",
	     &options->source},
	    {CLI_GROUP, .help = "Output"},
	    {CLI_FLAG, 0, "stdio", NULL,
	     "print a table at each refresh, instead of a screen with keys", &options->stdio},
	    {CLI_FLAG, 0, "tui", NULL, "on a terminal, a screen with keys (default)",
	     &options->tui},
	    {CLI_U64, 'E', "entries", "N",
	     "rows of a printed table (default: what the terminal has, else 20)",
	     &options->entries},
	    {CLI_U64, 0, "refreshes", "N", "end after so many refreshes", &options->refreshes},
	    {.kind = CLI_END},
	};

	memcpy(to, rows, sizeof(rows));
}

/* Those of record, but its -D: here perf's -d is the delay, between two refreshes. */
static size_t event_rows(struct record *record, struct cli_option *to)
{
	size_t rows = record_event_rows(record, to), kept = 0;

	for (size_t i = 0; i < rows; i++)
		if (to[i].letter != 'D')
			to[kept++] = to[i];
	return kept;
}

static bool take_record(struct top_options *options, struct tally_recorder_options *to)
{
	struct record *record = &options->record;

	*to = (struct tally_recorder_options){.size = sizeof(*to)};
	if (!record_targets_take(record, to) || !record_events_take(record, to) ||
	    !record_fields_take(record, to) || !record_rings_take(record, to))
		return false;
	if (record->realtime > 99) {
		cli_say("top", "-r: a real-time priority is 1 to 99 (sched(7))");
		return false;
	}
	to->realtime = (unsigned)record->realtime;
	to->callchain = record->callchain;
	to->call_graph = record->call_graph;
	if (!record->pids.count && !record->tids.count && !record->parents.count &&
	    !record->users.count)
		to->system_wide = true;
	return true;
}

int top_options_take(struct top_options *options, int argc, char **argv,
		     struct tally_recorder_options *ret_record,
		     struct tally_session_options *ret_session,
		     struct tally_profile_options *ret_profile)
{
	static const char *const forms[] = {"[OPTIONS]", "[OPTIONS] -p PID,...", NULL};
	static const struct cli_rule rules[] = {
	    {"--stdio,--tui", CLI_ONE_OF, NULL, "it is a table or a screen"},
	    {NULL},
	};
	const struct cli_usage usage = {
	    .command = "top",
	    .forms = forms,
	    .about =
		"Shows where the whole system, or running processes, spend their time now: the "
		"functions with the most samples first.  On a terminal it is a screen: ? "
		"shows its keys.",
	    .rules = rules,
	};
	struct cli_option rows[CLI_OPTIONS_MOST];
	size_t count = record_target_rows(&options->record, rows);
	int status, at;

	options->record.command = usage.command;
	options->delay = 2;
	options->children = options->source = true;
	options->keys[0] = tally_key_find("dso", 3);
	options->keys[1] = tally_key_find("symbol", 6);
	options->key_count = 2;
	status = cli_settings_apply("top", cmd_top_settings, options);
	if (status)
		return status;
	count += event_rows(&options->record, rows + count);
	count += record_rows(options, rows + count);
	show_rows(options, rows + count);
	at = cli_parse(&usage, rows, argc, argv, &status);
	if (at < 0)
		return status;
	if (at < argc)
		return cli_usage_error(
		    &usage, "'%s': top runs no command; start it and give its -p PID", argv[at]);
	if (!(options->delay >= 0.1 && options->delay <= 86400))
		return cli_usage_error(&usage, "-d: give a time of 0.1 to 86400 seconds");
	options->stdio &= !options->tui;
	if (!take_record(options, ret_record))
		return CLI_USAGE;
	*ret_session = (struct tally_session_options){.size = sizeof(*ret_session),
						      .functions = true,
						      .kallsyms = options->kallsyms,
						      .vmlinux = options->vmlinux,
						      .no_demangle = options->no_demangle};
	*ret_profile = (struct tally_profile_options){
	    .size = sizeof(*ret_profile),
	    .callchains = true,
	    .children = options->children,
	    .relative = options->relative,
	    .ignore_callees = options->ignore_callees,
	    .max_stack = options->max_stack < UINT32_MAX ? (uint32_t)options->max_stack : 0,
	    CLI_FILTER_FIELDS(options->filter),
	};
	return -1;
}

void top_options_done(struct top_options *options)
{
	cli_filter_done(&options->filter);
	record_events_done(&options->record);
	record_targets_done(&options->record);
}
