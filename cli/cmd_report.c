/* `tally report`: where a recorded program spent its time. */
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/data.h>
#include <tally/fleet.h>
#include <tally/header.h>
#include <tally/info.h>
#include <tally/profile.h>
#include <tally/report.h>
#include <tally/session.h>
#include <tally/text.h>
#include <unistd.h>
#include "colour_option.h"
#include "command.h"
#include "damage_notice.h"
#include "lbr_chains.h"
#include "pager.h"
#include "recording.h"
#include "report_options.h"
#include "report_screen.h"
#include "say.h"
#include "terminal.h"
#include "two_words.h"
#include "unmatched.h"

#define LARGE_TABLE (128 * 1024)

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
		result = report->no_empty ? tally_report_stats(session, stdout)
					  : tally_report_all_stats(session, stdout);
	if (!result && report->mmaps)
		result = tally_report_mmaps(session, stdout, &error);
	else if (!result && report->tasks)
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

static const char *format_name(const struct report *report)
{
	return tally_report_format_name((size_t)report->format, NULL);
}

static bool shows_screen(const struct report *report)
{
	const char *pager = getenv("TALLY_PAGER");

	if (report->screen >= 0)
		return report->screen > 0;
	/* What asks for text, or for what only text has. */
	return !(
	    report->no_screen || report->stdio || report->quiet || report->header ||
	    report->group > 0 || report->hierarchy || report->threads || report->blocks ||
	    report->separator || report->colour || report->width_count || report->whole_names ||
	    report->ns || report->show_modes || report->format || report->dlfilters.verbose ||
	    report->fields.columns.count || report->fields.more.count ||
	    report->fields.less.count || report->trees.style != TALLY_TREE_GRAPH ||
	    report->trees.value != TALLY_TREE_PERCENT || report->trees.key || report->history ||
	    report->trees.branches || report->trees.limit || (pager && !*pager));
}

/* -ENOTTY, -ENOSYS: there is no screen here; else the exit status. */
static int show_screen(const struct report *report, struct tally_session *session,
		       struct tally_profile *profile, const struct tally_profile_options *made_with,
		       const struct tally_report_options *options)
{
	const struct report_screen screen = {
	    .session = session,
	    .profile = profile,
	    .options = made_with,
	    .percent_limit = options->percent_limit,
	    .order = options->order,
	    .show_samples = options->show_samples,
	    .show_period = options->show_total_period,
	};
	struct tally_error error = {0};
	int result = cli_report_screen(&screen, &error);

	if (result == -ENOSYS && report->screen > 0)
		cli_say("report", "built without libncursesw: text instead of the screen");
	return result == -ENOSYS || result == -ENOTTY ? result : written(result, &error);
}

/* As perf: recorded groups are side by side, and all events if that is asked for. */
static bool shows_groups(const struct report *report, const struct tally_data *data)
{
	return report->format      ? false
	       : report->group < 0 ? tally_data_info(data)->group_count > 0
				   : report->group;
}

static int show(const struct report *report, struct tally_session *session,
		struct tally_profile *profile, const struct tally_profile_options *made_with)
{
	struct tally_error error = {0};
	struct tally_report_options options = {
	    .size = sizeof(options),
	    .percent_limit = report->percent_limit,
	    .trees = !report->trees.none,
	    .order = report->trees.order,
	    .tree_least = report->trees.least,
	    .tree_style = report->trees.style,
	    .tree_value = report->trees.value,
	    .tree_limit = report->trees.limit,
	    .show_modes = report->show_modes,
	    .group = shows_groups(report, tally_session_data(session)),
	    .hierarchy = report->hierarchy,
	    .joined_keys = report->keys.joined,
	    .show_empty = !report->no_empty,
	    .blocks = report->blocks,
	    .whole_names = report->whole_names,
	    .column_widths = report->widths,
	    .column_width_count = report->width_count,
	    .ns = report->ns,
	    .group_sort = report->group_sort > UINT32_MAX ? 0 : (uint32_t)report->group_sort,
	    .colour = cli_colour_wanted(report->colour, cli_term_colour()),
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
	int result = -ENOTTY;

	report_keys_columns(report, &options);
	if (!report->trees.has_order)
		options.order = tally_profile_has_children(profile) ? TALLY_CALLER : TALLY_CALLEE;
	if (report->dlfilters.verbose)
		tally_report_nameless(profile, stderr);
	tally_report_left_out(session, stderr);
	if (shows_screen(report))
		result = show_screen(report, session, profile, made_with, &options);
	if (result != -ENOTTY && result != -ENOSYS)
		return result;
	cli_pager_start(&pager);
	result = report->header ? show_header(report, tally_session_data(session)) : 0;
	if (!result)
		result = tally_report_write(profile, &options, stdout);
	if (!result && report->threads) {
		putc('\n', stdout);
		result = tally_report_threads(session, report->raw_counts, stdout, &error);
	}
	cli_pager_finish(&pager);
	return written(result, &error);
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
	if (samples && !report->blocks)
		cli_unmatched_say("report", session, samples, &report->filter, &report->choice,
				  "all filters together");
}

/* With --branch-history branches make chains, too. */
static bool has_callchains(const struct tally_data *data, bool branches)
{
	uint64_t kinds =
	    PERF_SAMPLE_CALLCHAIN | (branches ? (uint64_t)PERF_SAMPLE_BRANCH_STACK : 0);

	for (size_t i = 0; i < tally_data_event_count(data); i++)
		if (tally_data_event(data, i)->attr.sample_type & kinds)
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

static bool shows_picture(const struct report *report)
{
	return report->page || report->svg || report->flame;
}

/* The same as a page, or a flame graph. */
static int make_picture(struct report *report, struct tally_session *session,
			struct tally_profile_options *options, struct cli_progress *progress)
{
	int status = cli_choice_use("report", &report->choice, session);

	if (!status)
		status = cli_dlfilters_start(&report->dlfilters, session, false);
	if (!status)
		status = report->page ? report_page_write(report, session, options, progress)
				      : report_flame_write(report, session, options, progress);
	status = cli_dlfilters_stop(&report->dlfilters, status);
	cli_progress_done(progress);
	return status ? status : cli_report_damage("report", tally_session_data(session));
}

/* A folder of tables is one of a fleet, anything else a recording. */
static int open_input(struct report *report, struct tally_fleet **ret_fleet,
		      struct tally_data **ret_data, struct tally_error *error)
{
	int result;

	if (!tally_fleet_is_folder(report->input))
		return cli_data_open(report->input, report->max_expand, ret_data, error);
	result = tally_fleet_open(report->input, ret_fleet, error);
	if (!result) {
		*ret_data = tally_fleet_data(*ret_fleet);
		report->no_source = true; /* there are no binaries */
	}
	return result;
}

/* What a fleet's tables do not have. */
static int check_fleet(const struct report *report, const struct cli_usage *usage)
{
	const char *option = report->stats         ? "--stats"
			     : report->tasks       ? "--tasks"
			     : report->mmaps       ? "--mmaps"
			     : report->header_only ? "--header-only"
			     : report->threads     ? "--threads"
						   : NULL;

	return option ? cli_usage_error(usage, "%s needs a recording, and %s is a folder of tables",
					option, report->input)
		      : 0;
}

static int run(struct report *report, const struct cli_usage *usage)
{
	struct tally_session_options session_options = {
	    .size = sizeof(session_options),
	    .progress = progress_update,
	};
	struct tally_profile_options options = {
	    .size = sizeof(options),
	    .callchains = report->children || (!report->trees.none &&
					       tally_report_format_has_trees(format_name(report))),
	    .children = report->children,
	    .max_stack = (uint32_t)report->max_stack,
	    CLI_FILTER_FIELDS(report->filter),
	    .tree_least = report->trees.style == TALLY_TREE_FRACTAL ? 0 : report->trees.least,
	    .relative = report->relative,
	    .tree_samples = report->trees.value == TALLY_TREE_SAMPLES,
	    .tree_key = shows_picture(report) ? TALLY_TREE_FUNCTION : report->trees.key,
	    .time_quantum = report->time_quantum,
	    .time = report->time,
	    .cpus = report->cpu_numbers,
	    .cpu_count = report->cpu_count,
	};
	struct tally_session *session = NULL;
	struct tally_profile *profile = NULL;
	struct tally_data *data = NULL;
	struct tally_fleet *fleet = NULL;
	struct tally_error error = {0}, wrong = {0};
	struct cli_progress progress;
	int status = cli_binaries_apply("report", &report->binaries, &session_options);

	if (status)
		return status;
	session_options.functions = !report->addresses;
	cli_progress_start(&progress, "Reading the recording");
	session_options.progress_context = &progress;
	if (!open_input(report, &fleet, &data, &error)) {
		options.children &= has_callchains(data, false);
		if (report_keys_finish(report, data, &options, &wrong))
			status = cli_usage_error(usage, "%s: %s",
						 report->typed_column ? "--fields" : "--sort",
						 wrong.text);
		cli_binaries_fit(&report->binaries, data, &session_options);
		options.callchains &= has_callchains(data, options.branch_history);
		session_options.branch_history = options.branch_history && options.callchains;
		session_options.stitch_lbr =
		    report->stitch && options.callchains && cli_stitch_lbr("report", data);
		session_options.places =
		    options.callchains && (options.tree_key || options.branch_history ||
					   (options.children && report_keys_have_lines(&options)));
		if ((!options.callchains || !options.children) && !report->dlfilters.filters &&
		    !shows_picture(report))
			session_options.columns = TALLY_COLUMN_COUNT;
	}
	/* Without a recording it is certain that it has no such field. */
	if (!data && report->typed.count && report_keys_finish(report, NULL, &options, &wrong))
		status = cli_usage_error(usage, "%s: %s",
					 report->typed_column ? "--fields" : "--sort", wrong.text);
	if (data && !status)
		status = cli_choice_fit("report", &report->choice, data);
	if (fleet && !status)
		status = check_fleet(report, usage);
	if (status) {
		cli_progress_done(&progress);
	} else if (data && report->header_only) {
		cli_progress_done(&progress);
		status = show_header_only(report, data);
	} else if (!data || tally_session_new(data, &session_options, &session, &error) ||
		   (fleet && tally_fleet_attach(fleet, session, &error))) {
		cli_progress_done(&progress);
		status = cli_say_error("report", &error);
	} else if (report->stats || report->tasks || report->mmaps) {
		cli_progress_done(&progress);
		status = report->strict && cli_refuse_damage("report", data)
			     ? CLI_FAILED
			     : show_counts(report, session);
		status = status ? status : cli_report_damage("report", data);
	} else {
		cli_debuginfod_fetch("report", report->binaries.debuginfod, session,
				     shows_lines(report));
		if (shows_picture(report))
			status = make_picture(report, session, &options, &progress);
		else
			status = make_profile(report, session, &options, &progress, &profile);
	}
	if (profile && report->strict && cli_refuse_damage("report", data)) {
		status = CLI_FAILED;
	} else if (profile) {
		int damage = cli_report_damage("report", data);
		int shown;

		progress.terminal = false; /* a screen has words of its own */
		shown = show(report, session, profile, &options);

		say_unmatched(report, session, profile);
		/* The status of a filter comes first. */
		status = status ? status : shown ? shown : damage;
	}
	tally_profile_free(profile);
	tally_session_free(session);
	if (fleet)
		tally_fleet_close(fleet);
	else if (data)
		tally_data_close(data);
	return status;
}

const struct cli_setting cmd_report_settings[] = {
    {"report.children", "--children", CLI_SETTING_BOOL, offsetof(struct report, children)},
    {"report.group", "--group", CLI_SETTING_CALL, offsetof(struct report, group),
     .call = report_take_group},
    {"report.skip-empty", "--skip-empty", CLI_SETTING_BOOL, offsetof(struct report, no_empty)},
    {"report.percent-limit", "--percent-limit", CLI_SETTING_DOUBLE,
     offsetof(struct report, percent_limit)},
    {"hist.percentage", "--percentage", CLI_SETTING_CALL, offsetof(struct report, relative),
     .call = cli_take_percentage},
    {"report.sort_order", "--sort", CLI_SETTING_CALL, 0, .call = report_take_keys},
    {"call-graph.print-type", "--call-graph", CLI_SETTING_CALL, offsetof(struct report, trees),
     .call = report_take_tree_word},
    {"call-graph.order", "--call-graph", CLI_SETTING_CALL, offsetof(struct report, trees),
     .call = report_take_tree_word},
    {"call-graph.threshold", "--call-graph", CLI_SETTING_CALL, offsetof(struct report, trees),
     .call = report_take_tree_word},
    {"buildid.dir", "--buildid-dir", CLI_SETTING_TEXT, offsetof(struct report, binaries.usual_dir),
     .room = CLI_BUILD_ID_DIR},
    {"tui.report", "--tui", CLI_SETTING_CALL, offsetof(struct report, no_screen),
     .call = report_take_tui},
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

static size_t (*const themes[])(struct report *report, struct cli_option *to) = {
    report_input_rows, report_key_rows, report_filter_rows, report_tree_rows, report_output_rows,
};
#define THEMES (sizeof(themes) / sizeof(*themes))

/* Reads the command line.  The options are a large table, which what follows has no use for: a
 * stack may be small.  As cli_parse(). */
static __attribute__((noinline)) int take_options(struct report *report,
						  const struct cli_usage *usage, char *formats,
						  size_t room, int argc, char **argv,
						  int *ret_status)
{
	struct cli_option options[CLI_OPTIONS_MOST];
	size_t rows = 0;

	for (size_t i = 0; i < THEMES; i++)
		rows += themes[i](report, options + rows);
	memset(options + rows, 0, (CLI_OPTIONS_MOST - rows) * sizeof(*options));
	add_formats(options, &report->format, formats, room);
	*ret_status = cli_settings_apply("report", cmd_report_settings, report);
	return *ret_status ? -1 : cli_parse(usage, options, argc, argv, ret_status);
}

int cmd_report(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS]", "[OPTIONS] FILE", NULL};
	char formats[128] = "";
	const struct cli_rule rules[] = {
	    {"--pretty", CLI_NEEDS, "--threads", "it is about its counts"},
	    {"--stats", CLI_EXCLUDES, "--tasks,--mmaps", "these are other answers"},
	    {"--header-only", CLI_EXCLUDES, "--stats,--tasks,--mmaps,--threads",
	     "it prints the header and nothing else"},
	    {"-I", CLI_NEEDS, "--header,--header-only", "it adds lines to the header"},
	    {formats, CLI_EXCLUDES, "--header,--header-only,--stats,--tasks,--mmaps,--threads",
	     "these are text"},
	    {formats, CLI_EXCLUDES, "--group", "programs get each event's rows"},
	    {"--hierarchy", CLI_EXCLUDES, "-F,--total-cycles,--tui", "its columns are the keys"},
	    {formats, CLI_EXCLUDES, "-g,-G", "only text has call trees"},
	    {formats, CLI_EXCLUDES, "--hierarchy", "only text has a hierarchy"},
	    {formats, CLI_EXCLUDES, "--total-cycles", "only text has blocks"},
	    {"--total-cycles", CLI_EXCLUDES, "-s,-F,--mem-mode", "blocks are not made of keys"},
	    {"--branch-history", CLI_EXCLUDES, "-b,--mem-mode,--html,--svg,--flame,--tui",
	     "its rows are of samples, as text"},
	    {formats, CLI_EXCLUDES, "--html,--svg,--flame", "a report has one format"},
	    {"--no-source", CLI_NEEDS, "--html", "only the page has source"},
	    {"--html", CLI_EXCLUDES, "--svg,--flame", "a report has one format"},
	    {"--svg", CLI_EXCLUDES, "--flame", "a report has one format"},
	    {"--svg,--flame", CLI_EXCLUDES,
	     "--header,--header-only,--stats,--tasks,--tui,--group,--hierarchy,-s,-F,"
	     "--total-cycles",
	     "a flame graph is of stacks alone"},
	    {"--html", CLI_EXCLUDES, "--header,--header-only,--stats,--tasks,--tui,--group",
	     "these are of the text"},
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
	    .trees = {.least = REPORT_BRANCH_USUAL},
	    .children = true,
	    .branches = -1,
	    .group = -1,
	    .no_empty = true,
	    .screen = -1,
	    .binaries.inlines = CLI_INLINE_USUAL,
	};
	int status, at;

	/* Large tables are built one after another: free() gives each back to the system, whatever
	 * sizes malloc() has seen. */
	mallopt(M_MMAP_THRESHOLD, LARGE_TABLE);
	at = take_options(&report, &usage, formats, sizeof(formats), argc, argv, &status);
	if (at < 0)
		goto done;
	if (report.dlfilters.list) {
		status = CLI_OK;
		cli_dlfilters_list(&report.dlfilters);
		goto done;
	}
	if (report.hierarchy) {
		/* As perf: a line's share is that of the rows below it, and trees stay as they
		 * would have been. */
		if (report.children && !report.trees.has_order)
			report.trees.order = TALLY_CALLER;
		report.trees.has_order |= report.children;
		report.children = false;
	}
	if (report.max_stack > UINT32_MAX)
		report.max_stack = 0; /* no chain can be that long */
	status = cli_recording_take(&usage, argc, argv, at, &report.input);
	if (!status)
		status = cli_filter_numbers(&usage, &report.filter);
	if (!status)
		status = report_filters_finish(&report, &usage);
	if (!status)
		status = cli_choice_parse("report", &report.choice);
	if (!status)
		status = cli_dlfilters_load("report", &report.dlfilters);
	if (!status)
		status = run(&report, &usage);
done:
	cli_dlfilters_done(&report.dlfilters);
	cli_choice_done(&report.choice);
	cli_filter_done(&report.filter);
	report_keys_done(&report);
	free(report.cpu_numbers);
	cli_binaries_done(&report.binaries);
	return status;
}
