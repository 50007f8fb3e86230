/* `tally report`: where a recorded program spent its time. */
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/data.h>
#include <tally/header.h>
#include <tally/profile.h>
#include <tally/report.h>
#include <tally/session.h>
#include <tally/text.h>
#include <unistd.h>
#include "binaries.h"
#include "filter_expression.h"
#include "command.h"
#include "damage_notice.h"
#include "dlfilter_option.h"
#include "filter_lists.h"
#include "options.h"
#include "pager.h"
#include "progress.h"
#include "recording.h"
#include "say.h"
#include "terminal.h"
#include "unmatched.h"

#define NAMES_MOST   TALLY_REPORT_COLUMNS_MOST
#define OPTIONS_MOST 64
#define LARGE_TABLE  (128 * 1024)
#define LEAST_USUAL  0.5 /* %, of branches of a tree: perf's */

struct tree_choice {
	bool none, has_order, chosen; /* chosen: by -g or -G */
	enum tally_call_order order;
	double least;
};

/* Names of keys or fields, as the library has them. */
struct name_list {
	const char *names[NAMES_MOST];
	size_t count;
};

struct key_choice {
	struct name_list list;
	bool chosen; /* by -s or report.sort_order */
};

/* -F: columns from the left, and what rows are sorted by. */
struct field_choice {
	struct name_list columns, more; /* more: +KEY, among the usual columns */
	const char *order[2 * NAMES_MOST];
	size_t order_count;
	bool more_samples, more_period; /* +sample, +period */
};

struct report {
	const char *input, *separator, *time, *cpus;
	uint32_t *cpu_numbers; /* of `cpus` */
	size_t cpu_count;
	struct cli_binaries binaries;
	struct cli_filter filter;
	struct cli_dlfilters dlfilters;
	struct cli_choice choice;
	struct key_choice keys;
	struct field_choice fields;
	struct tree_choice trees;
	bool strict, children, addresses, show_samples, show_total_period, quiet, stdio, relative;
	bool header, header_only, full, stats, tasks;
	int format; /* number of it: tally_report_format_name() */
	double percent_limit;
	uint64_t max_stack, max_expand, time_quantum;
};

/* The status after writing; `error` may say why it failed. */
static int written(int result, const struct tally_error *error)
{
	if (!result || result == -EPIPE) /* the reader of the pipe has ended */
		return CLI_OK;
	if (error && error->text[0])
		return cli_say_error("report", error);
	if (result == -ENOMEM)
		cli_say("report", "not enough memory for the report");
	return CLI_FAILED; /* errors of stdout are reported where it is closed */
}

static int show_header(const struct report *report, const struct tally_data *data)
{
	unsigned flags =
	    (report->full ? TALLY_HEADER_FULL : 0) | (isatty(STDOUT_FILENO) ? 0 : TALLY_HEADER_RAW);
	int result = tally_header_text(data, flags, stdout);

	return result ? result : tally_header_stream_text(data, flags, stdout);
}

/* Instead of rows: counts of records, and tasks. */
static int show_counts(const struct report *report, struct tally_session *session)
{
	struct tally_error error = {0};
	struct cli_pager pager;
	int result = 0;

	cli_pager_start(&pager);
	if (report->header)
		result = show_header(report, tally_session_data(session));
	if (!result && report->stats)
		result = tally_report_stats(session, stdout);
	if (!result && report->tasks)
		result = tally_report_tasks(session, stdout, &error);
	cli_pager_finish(&pager);
	return written(result, &error);
}

static int show_header_only(const struct report *report, const struct tally_data *data)
{
	struct cli_pager pager;
	int result;

	cli_pager_start(&pager);
	result = show_header(report, data);
	cli_pager_finish(&pager);
	return written(result, NULL);
}

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && !strncmp(text, word, length);
}

/* Adds a name of the library's, once. */
static int add_name(struct name_list *to, const char *name, struct tally_error *error)
{
	for (size_t i = 0; i < to->count; i++)
		if (to->names[i] == name)
			return 0;
	if (to->count == NAMES_MOST)
		return cli_refuse(error, "more than %d of them", NAMES_MOST);
	to->names[to->count++] = name;
	return 0;
}

/* Words of -s: the keys, and overhead behind them. */
static const char *sort_word(size_t index, const char **ret_help)
{
	const char *name = tally_key_name(index, ret_help);

	if (name || (index && !tally_key_name(index - 1, NULL)))
		return name;
	if (ret_help)
		*ret_help = "the share; it must be the first key";
	return "overhead";
}

static int choose_key(struct name_list *keys, const char *text, size_t length,
		      struct tally_error *error)
{
	const char *name = tally_key_find(text, length);

	return name ? add_name(keys, name, error)
		    : cli_refuse_word(error, text, length, "key", sort_word);
}

static int take_keys(void *to, const char *value, bool on, struct tally_error *error)
{
	struct key_choice keys = {0};
	bool all = false; /* without other keys, one row of all samples */

	while (on && value) {
		size_t length = strcspn(value, ",");
		/* Rows are sorted by it, and it is the first column. */
		bool overhead = is_word(value, length, "overhead");
		int result = overhead ? 0 : choose_key(&keys.list, value, length, error);

		if (overhead && keys.list.count)
			return cli_refuse(
			    error,
			    "rows are sorted by overhead, so overhead must be the first key");
		if (result)
			return result;
		all |= overhead;
		if (!value[length])
			break;
		value += length + 1;
	}
	keys.chosen = true;
	if (keys.list.count || all) /* --no-sort: the default keys */
		*(struct key_choice *)to = keys;
	return 0;
}

static int choose_field(struct field_choice *to, const char *text, size_t length, bool more,
			struct tally_error *error)
{
	const char *name = tally_report_field_find(text, length);

	if (!name)
		return cli_refuse_word(error, text, length, "column", tally_report_field_name);
	if (!more)
		return add_name(&to->columns, name, error);
	if (tally_key_find(name, strlen(name)))
		return add_name(&to->more, name, error);
	to->more_samples |= !strcmp(name, "sample");
	to->more_period |= !strcmp(name, "period");
	return 0;
}

static int take_fields(void *to, const char *value, bool on, struct tally_error *error)
{
	struct field_choice fields = {.order_count = 0};
	bool more = on && *value == '+';

	for (value += more; on; value++) {
		size_t length = strcspn(value, ",");
		int result = choose_field(&fields, value, length, more, error);

		if (result)
			return result;
		value += length;
		if (!*value)
			break;
	}
	*(struct field_choice *)to = fields;
	return 0;
}

/* Keys of -s that are not columns become the last columns, and rows are sorted by them first;
 * without -s only the columns make rows. */
static int complete_fields(struct report *report, struct tally_error *error)
{
	struct field_choice *fields = &report->fields;
	struct name_list keys = {.count = 0};
	int result = 0;

	report->show_samples |= fields->more_samples;
	report->show_total_period |= fields->more_period;
	for (size_t i = 0; i < fields->more.count && !result; i++)
		result = add_name(&report->keys.list, fields->more.names[i], error);
	if (!fields->columns.count || result)
		return result;
	for (size_t i = 0; report->keys.chosen && i < report->keys.list.count && !result; i++) {
		result = add_name(&fields->columns, report->keys.list.names[i], error);
		fields->order[fields->order_count++] = report->keys.list.names[i];
	}
	for (size_t i = 0; i < fields->columns.count && !result; i++) {
		const char *name = fields->columns.names[i];

		fields->order[fields->order_count++] = name;
		if (tally_key_find(name, strlen(name)))
			result = add_name(&keys, name, error);
	}
	report->keys.list = keys;
	return result;
}

static int choose_tree(struct tree_choice *trees, const char *text, size_t length,
		       struct tally_error *error)
{
	char number[32], *end;
	double least;

	if (is_word(text, length, "none")) {
		trees->none = true;
	} else if (is_word(text, length, "caller") || is_word(text, length, "callee")) {
		trees->has_order = true;
		trees->order = text[5] == 'r' ? TALLY_CALLER : TALLY_CALLEE;
	} else if (is_word(text, length, "graph")) {
		trees->none = false;
	} else if (!is_word(text, length, "function") && !is_word(text, length, "percent")) {
		/* The last two are what the report does in any case. */
		snprintf(number, sizeof(number), "%.*s", (int)length, text);
		least = strtod(number, &end);
		if (length >= sizeof(number) || end == number || *end || !isfinite(least) ||
		    least < 0 || least > 100)
			return cli_refuse(
			    error,
			    "'%.*s' is invalid; valid are none, graph, caller, callee, function, "
			    "percent, and the smallest percentage of a branch",
			    (int)length, text);
		trees->least = least;
	}
	return 0;
}

/* One word of -g, from a configuration file; it is added to the words so far. */
static int take_tree_word(void *to, const char *value, bool on, struct tally_error *error)
{
	(void)on;
	return choose_tree(to, value, strlen(value), error);
}

static int take_trees(void *to, const char *value, bool on, struct tally_error *error)
{
	struct tree_choice trees = {.least = LEAST_USUAL, .none = !on, .chosen = true};

	while (on && value) {
		size_t length = strcspn(value, ",");
		int result = choose_tree(&trees, value, length, error);

		if (result)
			return result;
		if (!value[length])
			break;
		value += length + 1;
	}
	*(struct tree_choice *)to = trees;
	return 0;
}

/* perf has an interactive screen; without this row the message would suggest a similar option. */
static int refuse_screen(void *to, const char *value, bool on, struct tally_error *error)
{
	(void)to;
	(void)value;
	return on ? cli_refuse(error, "tally has no such screen: the report is text, on a terminal "
				      "through $PAGER")
		  : 0;
}

static int take_inverted(void *to, const char *value, bool on, struct tally_error *error)
{
	int result = take_trees(to, value, on, error);

	if (!result) {
		((struct tree_choice *)to)->has_order = true;
		((struct tree_choice *)to)->order = TALLY_CALLER;
	}
	return result;
}

/* A number and its unit: "100ms". */
static int take_quantum(void *to, const char *value, bool on, struct tally_error *error)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	size_t digits = on ? strspn(value, "0123456789") : 0;
	char number[24];
	uint64_t count;

	if (!on) {
		*(uint64_t *)to = 0;
		return 0;
	}
	snprintf(number, sizeof(number), "%.*s", (int)digits, value);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(value + digits, units[i].name) && digits < sizeof(number) &&
		    !tally_text_u64(number, &count) && count && count <= UINT64_MAX / units[i].ns) {
			*(uint64_t *)to = count * units[i].ns;
			return 0;
		}
	return cli_refuse(error, "'%s' is not a time above 0 with its unit: ns, us, ms or s",
			  value);
}

static int take_percentage(void *to, const char *value, bool on, struct tally_error *error)
{
	bool relative = on && !strcmp(value, "relative");

	if (on && !relative && strcmp(value, "absolute") != 0)
		return cli_refuse(error, "'%s' is invalid; valid are absolute and relative", value);
	*(bool *)to = relative;
	return 0;
}

static const char *format_name(const struct report *report)
{
	return tally_report_format_name((size_t)report->format, NULL);
}

static int show(const struct report *report, const struct tally_profile *profile)
{
	struct tally_report_options options = {
	    .size = sizeof(options),
	    .percent_limit = report->percent_limit,
	    .trees = !report->trees.none,
	    .order = report->trees.order,
	    .tree_least = report->trees.least,
	    .colour = cli_term_colour(),
	    .width = cli_term_width(),
	    .show_samples = report->show_samples,
	    .show_total_period = report->show_total_period,
	    .separator = report->separator,
	    .format = format_name(report),
	    .quiet = report->quiet,
	    .height =
		report->trees.chosen || report->stdio || report->quiet ? 0 : cli_term_height(),
	};
	struct cli_pager pager;
	int result;

	if (report->fields.columns.count) {
		options.columns = report->fields.columns.names;
		options.column_count = report->fields.columns.count;
		options.order_by = report->fields.order;
		options.order_by_count = report->fields.order_count;
	}
	if (!report->trees.has_order)
		options.order = tally_profile_has_children(profile) ? TALLY_CALLER : TALLY_CALLEE;
	if (report->dlfilters.verbose)
		tally_report_nameless(profile, stderr);
	tally_report_left_out(tally_profile_session(profile), stderr);
	cli_pager_start(&pager);
	result = report->header
		     ? show_header(report, tally_session_data(tally_profile_session(profile)))
		     : 0;
	if (!result)
		result = tally_report_write(profile, &options, stdout);
	cli_pager_finish(&pager);
	return written(result, NULL);
}

/* When there are samples, but the filters drop all. */
static void say_unmatched(const struct report *report, struct tally_session *session,
			  const struct tally_profile *profile)
{
	uint64_t samples = tally_session_counts(session)->samples;
	struct tally_profile_event event = {.size = sizeof(event)};

	for (size_t i = 0; !tally_profile_event(profile, i, &event); i++)
		if (event.samples)
			return;
	if (samples)
		cli_unmatched_say("report", session, samples, &report->filter, &report->choice);
}

static bool has_callchains(const struct tally_data *data)
{
	for (size_t i = 0; i < tally_data_event_count(data); i++)
		if (tally_data_event(data, i)->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
			return true;
	return false;
}

static int progress_update(void *context, uint64_t done, uint64_t total)
{
	return cli_dlfilters_interrupted() ? 1 : cli_progress_update(context, done, total);
}

static bool shows_lines(const struct report *report)
{
	for (size_t i = 0; i < report->keys.list.count; i++)
		if (!strncmp(report->keys.list.names[i], "src", 3))
			return true;
	return report->binaries.inlines == CLI_INLINE_ALL;
}

/* The profile of the samples that the filters keep. 0, or the exit status after having printed why.
 */
static int make_profile(struct report *report, struct tally_session *session,
			const struct tally_profile_options *options, struct cli_progress *progress,
			struct tally_profile **ret)
{
	struct tally_error error = {0};
	int status = cli_choice_use("report", &report->choice, session), result = 0;

	if (!status)
		status = cli_dlfilters_start(&report->dlfilters, session, false);
	if (!status)
		result = tally_profile_new(session, options, ret, &error);
	status = cli_dlfilters_stop(&report->dlfilters, status);
	cli_progress_done(progress);
	return result && !cli_dlfilters_interrupted() ? cli_say_error("report", &error) : status;
}

static int run(struct report *report)
{
	struct tally_session_options session_options = {
	    .size = sizeof(session_options),
	    .progress = progress_update,
	};
	struct tally_profile_options options = {
	    .size = sizeof(options),
	    .keys = report->keys.list.names,
	    .key_count = report->keys.list.count,
	    .callchains = report->children || (!report->trees.none &&
					       tally_report_format_has_trees(format_name(report))),
	    .children = report->children,
	    .max_stack = (uint32_t)report->max_stack,
	    CLI_FILTER_FIELDS(report->filter),
	    .tree_least = report->trees.least,
	    .relative = report->relative,
	    .time_quantum = report->time_quantum,
	    .time = report->time,
	    .cpus = report->cpu_numbers,
	    .cpu_count = report->cpu_count,
	};
	struct tally_session *session = NULL;
	struct tally_profile *profile = NULL;
	struct tally_data *data = NULL;
	struct tally_error error = {0};
	struct cli_progress progress;
	int status = cli_binaries_apply("report", &report->binaries, &session_options);

	if (status)
		return status;
	session_options.functions = !report->addresses;
	cli_progress_start(&progress, "Reading the recording");
	session_options.progress_context = &progress;
	if (!cli_data_open(report->input, report->max_expand, &data, &error)) {
		options.callchains &= has_callchains(data);
		if ((!options.callchains || !options.children) && !report->dlfilters.filters)
			session_options.columns = TALLY_COLUMN_COUNT;
	}
	if (data)
		status = cli_choice_fit("report", &report->choice, data);
	if (status) {
		cli_progress_done(&progress);
	} else if (data && report->header_only) {
		cli_progress_done(&progress);
		status = show_header_only(report, data);
	} else if (!data || tally_session_new(data, &session_options, &session, &error)) {
		cli_progress_done(&progress);
		status = cli_say_error("report", &error);
	} else if (report->stats || report->tasks) {
		cli_progress_done(&progress);
		status = report->strict && cli_refuse_damage("report", data)
			     ? CLI_FAILED
			     : show_counts(report, session);
		status = status ? status : cli_report_damage("report", data);
	} else {
		cli_debuginfod_fetch("report", report->binaries.debuginfod, session,
				     shows_lines(report));
		status = make_profile(report, session, &options, &progress, &profile);
	}
	if (profile && report->strict && cli_refuse_damage("report", data)) {
		status = CLI_FAILED;
	} else if (profile) {
		int damage = cli_report_damage("report", data);
		int shown = show(report, profile);

		say_unmatched(report, session, profile);
		/* The status of a filter comes first. */
		status = status ? status : shown ? shown : damage;
	}
	tally_profile_free(profile);
	tally_session_free(session);
	if (data)
		tally_data_close(data);
	return status;
}

const struct cli_setting cmd_report_settings[] = {
    {"report.children", "--children", CLI_SETTING_BOOL, offsetof(struct report, children)},
    {"report.percent-limit", "--percent-limit", CLI_SETTING_DOUBLE,
     offsetof(struct report, percent_limit)},
    {"hist.percentage", "--percentage", CLI_SETTING_CALL, offsetof(struct report, relative),
     .call = take_percentage},
    {"report.sort_order", "--sort", CLI_SETTING_CALL, offsetof(struct report, keys),
     .call = take_keys},
    {"call-graph.print-type", "--call-graph", CLI_SETTING_CALL, offsetof(struct report, trees),
     .call = take_tree_word},
    {"call-graph.order", "--call-graph", CLI_SETTING_CALL, offsetof(struct report, trees),
     .call = take_tree_word},
    {"call-graph.threshold", "--call-graph", CLI_SETTING_CALL, offsetof(struct report, trees),
     .call = take_tree_word},
    {"buildid.dir", "--buildid-dir", CLI_SETTING_TEXT, offsetof(struct report, binaries.usual_dir),
     .room = CLI_BUILD_ID_DIR},
    {.key = NULL},
};

/* Each format but the first, which needs no option, is an option of its own.  `names` becomes all
 * of them, with commas between. */
static void add_formats(struct cli_option *options, int *to, char *names, size_t room)
{
	const char *name, *help;
	size_t at = 0;

	while (options->kind != CLI_END)
		options++;
	for (size_t i = 1; (name = tally_report_format_name(i, &help)); i++) {
		*options++ = (struct cli_option){CLI_SET, .name = name, .help = help, .to = to,
						 .number = (int)i};
		if (at < room)
			at +=
			    (size_t)snprintf(names + at, room - at, "%s--%s", at ? "," : "", name);
	}
}

int cmd_report(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS]", "[OPTIONS] FILE", NULL};
	char formats[128] = "";
	const struct cli_rule rules[] = {
	    {"--header-only", CLI_EXCLUDES, "--stats,--tasks",
	     "it prints the header and nothing else"},
	    {"-I", CLI_NEEDS, "--header,--header-only", "it adds lines to the header"},
	    {formats, CLI_EXCLUDES, "--header,--header-only,--stats,--tasks", "these are text"},
	    {formats, CLI_EXCLUDES, "-g,-G", "only text has call trees"},
	    {NULL},
	};
	const struct cli_usage usage = {
	    .command = "report",
	    .forms = forms,
	    .about = "Shows where a recorded program spent its time: in which programs, binaries "
		     "and functions the samples are, and who called these.",
	    .mixed = true,
	    .rules = rules,
	};
	struct report report = {
	    .keys.list = {{"comm", "dso", "symbol"}, 3},
	    .trees = {.least = LEAST_USUAL},
	    .children = true,
	    .binaries.inlines = CLI_INLINE_USUAL,
	};
	struct cli_option options[OPTIONS_MOST] = {
	    {CLI_GROUP, .help = "Input"},
	    CLI_INPUT(report.input),
	    CLI_BINARIES(report.binaries),
	    CLI_STRICT(report.strict),
	    CLI_MAX_EXPAND(report.max_expand),
	    {CLI_GROUP, .help = "Other output, instead of rows or before them"},
	    {CLI_FLAG, 0, "header", NULL, "print the file's header first", .to = &report.header},
	    {CLI_FLAG, 0, "header-only", NULL, "print the header and nothing else",
	     .to = &report.header_only},
	    {CLI_FLAG, 'I', "show-info", NULL, "with --header: also topology, caches and memory",
	     .to = &report.full},
	    {CLI_FLAG, 0, "stats", NULL,
	     "count the records of each type, and the samples of each event", .to = &report.stats},
	    {CLI_FLAG, 0, "tasks", NULL, "the threads, each below its parent", .to = &report.tasks},
	    {CLI_GROUP, .help = "Rows"},
	    {CLI_CALL, 's', "sort", "KEYS",
	     "the keys that rows are made of: {} (default: comm,dso,symbol)", .to = &report.keys,
	     .call = take_keys, .word = sort_word},
	    {CLI_CALL, 'F', "fields", "FIELDS",
	     "columns, and the order by which rows are sorted: {}; +FIELDS adds to the default "
	     "columns",
	     .to = &report.fields, .call = take_fields, .word = tally_report_field_name},
	    {CLI_CALL, 0, "time-quantum", "TIME",
	     "length of the intervals of the key time, with its unit: ns, us, ms or s (default: "
	     "100ms)",
	     .to = &report.time_quantum, .call = take_quantum},
	    {CLI_FLAG, 0, "children", NULL,
	     "add what a function called to the function's own share, when there are call chains "
	     "(default)",
	     .to = &report.children},
	    {CLI_FLAG, 0, "addresses", NULL,
	     "rows as in perf: one for each address without a symbol, and one for each version of "
	     "a Java or JavaScript function",
	     .to = &report.addresses},
	    {CLI_DOUBLE, 0, "percent-limit", "PERCENT", "leave out rows below this share",
	     .to = &report.percent_limit},
	    {CLI_STRING, 0, "time", "SPANS",
	     "only from START,STOP in seconds, or parts of the time as 10%/2 or 0%-10%,30%-40%",
	     .to = &report.time},
	    {CLI_STRING, 'C', "cpu", "CPUS", "only these CPUs", .to = &report.cpus},
	    {CLI_LIST, 'c', "comms", "NAMES", "only these commands", .to = &report.filter.comms},
	    {CLI_LIST, 'd', "dsos", "NAMES", "only samples in these binaries",
	     .to = &report.filter.dsos},
	    {CLI_LIST, 'S', "symbols", "NAMES", "only samples in these functions",
	     .to = &report.filter.symbols},
	    {CLI_LIST, 0, "pid", "PIDS", "only these processes", .to = &report.filter.pids},
	    {CLI_LIST, 0, "tid", "TIDS", "only these threads", .to = &report.filter.tids},
	    CLI_CHOICE(report.choice),
	    CLI_DLFILTERS(report.dlfilters),
	    {CLI_CALL, 0, "percentage", "OF",
	     "with a filter, what 100 % is: absolute, all samples of the event (default), or "
	     "relative, the samples that pass",
	     .to = &report.relative, .call = take_percentage},
	    {CLI_GROUP, .help = "Call trees"},
	    {CLI_CALL, 'g', "call-graph", "HOW",
	     "none, or graph, caller, callee and the smallest percentage of a branch (default: "
	     "graph,0.5, caller with --children, else callee)",
	     .to = &report.trees, .flags = CLI_OPTIONAL, .call = take_trees},
	    {CLI_CALL, 'G', "inverted", "HOW", "the same as -g caller", .to = &report.trees,
	     .flags = CLI_OPTIONAL, .call = take_inverted},
	    {CLI_U64, 0, "max-stack", "FRAMES", "use only this many innermost frames of a chain",
	     .to = &report.max_stack},
	    {CLI_GROUP, .help = "Output"},
	    {CLI_FLAG, 0, "stdio", NULL, "print the same text on a terminal as into a file",
	     .to = &report.stdio},
	    {CLI_CALL, 0, "tui", NULL, NULL, NULL, CLI_BARE | CLI_HIDDEN, refuse_screen},
	    {CLI_CALL, 0, "gtk", NULL, NULL, NULL, CLI_BARE | CLI_HIDDEN, refuse_screen},
	    {CLI_FLAG, 'n', "show-nr-samples", NULL, "a column with the number of samples",
	     .to = &report.show_samples},
	    {CLI_FLAG, 0, "show-total-period", NULL, "a column with the sum of periods",
	     .to = &report.show_total_period},
	    {CLI_STRING, 't', "field-separator", "TEXT",
	     "print this text between columns instead of spaces; no trees",
	     .to = &report.separator},
	    CLI_NO_DEMANGLE(report.binaries),
	    CLI_INLINE(report.binaries),
	    {CLI_FLAG, 'q', "quiet", NULL, "rows only, without header lines", .to = &report.quiet},
	    {CLI_COUNT, 'v', "verbose", NULL, "print why symbols are missing",
	     .to = &report.dlfilters.verbose},
	    {CLI_GROUP, .help = "Formats for other programs"},
	};
	struct tally_error error = {0};
	int status, at;

	/* Large tables are built one after another: free() gives each back to the system, whatever
	 * sizes malloc() has seen. */
	mallopt(M_MMAP_THRESHOLD, LARGE_TABLE);
	add_formats(options, &report.format, formats, sizeof(formats));
	status = cli_settings_apply("report", cmd_report_settings, &report);
	at = status ? -1 : cli_parse(&usage, options, argc, argv, &status);
	if (at < 0)
		goto done;
	if (report.dlfilters.list) {
		status = CLI_OK;
		cli_dlfilters_list(&report.dlfilters);
		goto done;
	}
	if (report.max_stack > UINT32_MAX)
		report.max_stack = 0; /* no chain can be that long */
	if (complete_fields(&report, &error)) {
		status = cli_usage_error(&usage, "--fields: %s", error.text);
		goto done;
	}
	status = cli_recording_take(&usage, argc, argv, at, &report.input);
	if (!status)
		status = cli_filter_numbers(&usage, &report.filter);
	if (!status && report.cpus &&
	    (tally_text_cpu_list(report.cpus, &report.cpu_numbers, &report.cpu_count) ||
	     !report.cpu_count))
		status = cli_usage_error(
		    &usage, "--cpu '%s' is not a list of CPUs; write it as 0-3,7", report.cpus);
	if (!status)
		status = cli_choice_parse("report", &report.choice);
	if (!status)
		status = cli_dlfilters_load("report", &report.dlfilters);
	if (!status)
		status = run(&report);
done:
	cli_dlfilters_done(&report.dlfilters);
	cli_choice_done(&report.choice);
	cli_filter_done(&report.filter);
	free(report.cpu_numbers);
	cli_binaries_done(&report.binaries);
	return status;
}
