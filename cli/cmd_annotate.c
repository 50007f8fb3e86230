/* `tally annotate`: which instructions and source lines of a function have the samples. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/annotate.h>
#include <tally/data.h>
#include <tally/report.h>
#include <tally/session.h>
#include <tally/text.h>
#include "binaries.h"
#include "colour_option.h"
#include "command.h"
#include "damage_notice.h"
#include "filter_expression.h"
#include "filter_lists.h"
#include "options.h"
#include "pager.h"
#include "progress.h"
#include "recording.h"
#include "say.h"
#include "terminal.h"
#include "two_words.h"
#include "unmatched.h"

#define NAME            "annotate"
#define FUNCTIONS_USUAL 3
#define ELSEWHERE_LEAST 10 /* a tenth of the samples is worth a line */

enum together { NOTHING_TOGETHER, GROUPS_TOGETHER, ALL_TOGETHER };

struct annotate {
	const char *input, *time, *cpus, *prefix, *colour;
	uint32_t *cpu_numbers; /* of `cpus` */
	size_t cpu_count;
	struct cli_binaries binaries;
	struct cli_filter filter;
	struct cli_choice choice;
	enum tally_percent_type percent_type;
	uint64_t functions, max_expand, prefix_strip;
	double percent_limit;
	int together; /* enum together */
	bool source, hide_source, hot, json, lines, full_paths, encoding, samples, total_period;
	bool intel, stdio, quiet, skip_missing, strict, force;
	bool data_types, type_stat;
	const char *data_type; /* NULL: all */
	unsigned verbose;
};

static const char *percent_word(size_t index, const char **ret_help)
{
	static const struct {
		const char *name, *help;
	} words[] = {
	    [TALLY_PERCENT_LOCAL_PERIOD] = {"local-period",
					    "100 % is the sum of the function's periods (default)"},
	    [TALLY_PERCENT_GLOBAL_PERIOD] = {"global-period", "100 % is that of all samples"},
	    [TALLY_PERCENT_LOCAL_HITS] = {"local-hits", "100 % is the function's samples"},
	    [TALLY_PERCENT_GLOBAL_HITS] = {"global-hits", "100 % is all samples"},
	};

	if (index >= sizeof(words) / sizeof(*words))
		return NULL;
	if (ret_help)
		*ret_help = words[index].help;
	return words[index].name;
}

static int take_percent_type(void *to, const char *value, bool on, struct tally_error *error)
{
	const char *name;

	if (!on) {
		*(enum tally_percent_type *)to = TALLY_PERCENT_LOCAL_PERIOD;
		return 0;
	}
	for (size_t i = 0; (name = percent_word(i, NULL)); i++)
		if (!strcmp(name, value)) {
			*(enum tally_percent_type *)to = (enum tally_percent_type)i;
			return 0;
		}
	return cli_refuse_word(error, value, strlen(value), "percent type", percent_word);
}

static int take_data_type(void *to, const char *value, bool on, struct tally_error *error)
{
	struct annotate *annotate = to;

	(void)error;
	annotate->data_types = on;
	annotate->data_type = on ? value : NULL;
	return 0;
}

/* Without these rows the messages would suggest similar options. */
static int refuse_screen(void *to, const char *value, bool on, struct tally_error *error)
{
	(void)to;
	(void)value;
	return on ? cli_refuse(error, "tally has no such screen: the listing is text, on a "
				      "terminal through $PAGER")
		  : 0;
}

static int refuse_objdump(void *to, const char *value, bool on, struct tally_error *error)
{
	(void)to;
	(void)value;
	return on ? cli_refuse(error, "tally disassembles by itself and runs no other program") : 0;
}

static int show(const struct annotate *annotate, const struct tally_annotation *annotation)
{
	unsigned width = annotate->stdio ? 0 : cli_term_width();
	const struct tally_annotation_text options = {
	    .size = sizeof(options),
	    .functions = (size_t)annotate->functions,
	    .percent_limit = annotate->percent_limit,
	    .percent_type = annotate->percent_type,
	    .json = annotate->json,
	    .hot = annotate->hot,
	    .no_source = !annotate->source || annotate->hide_source,
	    .summary = annotate->lines,
	    .full_paths = annotate->full_paths,
	    .encoding = annotate->encoding,
	    .show_samples = annotate->samples,
	    .show_total_period = annotate->total_period,
	    .separate = annotate->together != ALL_TOGETHER,
	    .group = annotate->together == GROUPS_TOGETHER,
	    .intel = annotate->intel,
	    .colour = cli_colour_wanted(annotate->colour, !annotate->stdio && cli_term_colour()),
	    .utf8 = width && cli_term_utf8(),
	    .width = width,
	    .prefix = annotate->prefix,
	    .prefix_strip = (unsigned)annotate->prefix_strip,
	    .quiet = annotate->quiet,
	    .skip_missing = annotate->skip_missing,
	};
	struct tally_error error = {0};
	struct cli_pager pager;
	int result;

	cli_pager_start(&pager);
	result = tally_annotation_write(annotation, &options, stdout, &error);
	cli_pager_finish(&pager);
	if (!result || result == -EPIPE) /* the reader of the pipe has ended */
		return CLI_OK;
	return error.text[0] ? cli_say_error(NAME, &error) : CLI_FAILED;
}

static int show_types(const struct annotate *annotate, const struct tally_data_profile *profile)
{
	const struct tally_data_profile_text options = {
	    .size = sizeof(options),
	    .type = annotate->data_type,
	    .percent_limit = annotate->percent_limit,
	    .json = annotate->json,
	    .outcomes = annotate->type_stat,
	    .full_paths = annotate->full_paths,
	    .show_samples = annotate->samples,
	    .show_total_period = annotate->total_period,
	    .colour = cli_colour_wanted(annotate->colour, !annotate->stdio && cli_term_colour()),
	};
	struct tally_error error = {0};
	struct cli_pager pager;
	int result;

	cli_pager_start(&pager);
	result = tally_data_profile_write(profile, &options, stdout, &error);
	cli_pager_finish(&pager);
	if (!result || result == -EPIPE)
		return CLI_OK;
	return error.text[0] ? cli_say_error(NAME, &error) : CLI_FAILED;
}

/* Whether samples were chosen, so that not all are expected in a listing. */
static bool chooses(const struct annotate *annotate)
{
	return annotate->filter.symbols.count || annotate->filter.dsos.count ||
	       annotate->choice.text || annotate->time || annotate->cpus;
}

/* A listing of a function with few samples, where most are in code without symbols, would be read
 * as the answer. */
static void say_elsewhere(const struct tally_annotation *annotation,
			  const struct tally_session *session)
{
	uint64_t all = tally_session_counts(session)->samples, known = 0;
	size_t events = tally_data_event_count(tally_session_data(session));
	struct tally_annotated_function function = {.size = sizeof(function)};

	for (size_t i = 0; !tally_annotation_function(annotation, i, &function); i++)
		for (size_t event = 0; event < events; event++)
			known += function.samples[event];
	if (all && known < all - all / ELSEWHERE_LEAST)
		cli_say(NAME,
			"%.1f %% of the samples are in no known function; `tally report -v` "
			"says why",
			100.0 * (double)(all - known) / (double)all);
}

/* When no function is left to list. */
static int say_nothing(const struct annotate *annotate, struct tally_session *session)
{
	uint64_t samples = tally_session_counts(session)->samples;

	if (!samples)
		cli_say(NAME, "the recording has no samples");
	else if (chooses(annotate))
		cli_unmatched_say(NAME, session, samples, &annotate->filter, &annotate->choice,
				  "all filters and are in a known function");
	else
		cli_say(NAME, "no sample is in a known function; `tally report -v` says why");
	return CLI_FAILED;
}

/* When no type is left. */
static int say_no_type(const struct annotate *annotate, const struct tally_data_profile *profile)
{
	if (annotate->data_type && tally_data_profile_count(profile, NULL))
		cli_say(NAME,
			"no sample accesses a type named '%s'; `tally report -s type` lists "
			"those that have samples",
			annotate->data_type);
	else
		cli_say(NAME, "no sample has a known data type; --type-stat says why");
	return CLI_FAILED;
}

/* What was read, as far as it is not refused. */
static int write_types(const struct annotate *annotate, const struct tally_session *session,
		       const struct tally_data_profile *profile)
{
	struct tally_data *data = tally_session_data(session);
	int status, damage;

	if (annotate->strict && cli_refuse_damage(NAME, data))
		return CLI_FAILED;
	damage = cli_report_damage(NAME, data);
	status = show_types(annotate, profile);
	if (!status && !tally_data_profile_count(profile, annotate->data_type))
		status = say_no_type(annotate, profile);
	return status ? status : damage;
}

static int show_session(struct annotate *annotate, struct tally_session *session,
			struct cli_progress *progress)
{
	const struct tally_annotation_options options = {
	    .size = sizeof(options),
	    .symbols = (const char *const *)annotate->filter.symbols.items,
	    .symbol_count = annotate->filter.symbols.count,
	    .dsos = (const char *const *)annotate->filter.dsos.items,
	    .dso_count = annotate->filter.dsos.count,
	    .time = annotate->time,
	    .cpus = annotate->cpu_numbers,
	    .cpu_count = annotate->cpu_count,
	};
	struct tally_data_profile *profile = NULL;
	struct tally_annotation *annotation = NULL;
	struct tally_error error = {0};
	int status, result = 0, damage;

	cli_debuginfod_fetch(NAME, annotate->binaries.debuginfod, session, true);
	status = cli_choice_use(NAME, &annotate->choice, session);
	if (!status && annotate->data_types)
		result = tally_data_profile_new(session, &options, &profile, &error);
	else if (!status)
		result = tally_annotation_new(session, &options, &annotation, &error);
	cli_progress_done(progress);
	if (status || result)
		return result ? cli_say_error(NAME, &error) : status;
	if (profile) {
		status = write_types(annotate, session, profile);
		tally_data_profile_free(profile);
		return status;
	}
	if (annotate->strict && cli_refuse_damage(NAME, tally_session_data(session))) {
		status = CLI_FAILED;
	} else {
		damage = cli_report_damage(NAME, tally_session_data(session));
		if (annotate->verbose)
			(void)tally_report_missing(session, stderr);
		if (tally_annotation_function_count(annotation) || annotate->json)
			status = show(annotate, annotation);
		if (!tally_annotation_function_count(annotation))
			status = say_nothing(annotate, session);
		else if (!chooses(annotate) && !annotate->quiet && !annotate->json)
			say_elsewhere(annotation, session);
		(void)tally_report_left_out(session, stderr);
		status = status ? status : damage;
	}
	tally_annotation_free(annotation);
	return status;
}

/* Whether functions without symbols are asked for: all, or one by its name, libx.so+0x12340.
 * Looking for where these begin takes an eighth of the time. */
static bool wants_nameless(const struct cli_list *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (strstr(names->items[i], "+0x"))
			return true;
	return !names->count;
}

static int run(struct annotate *annotate)
{
	struct cli_progress progress;
	struct tally_session_options options = {.size = sizeof(options),
						.progress = cli_progress_update,
						.progress_context = &progress,
						.functions =
						    wants_nameless(&annotate->filter.symbols),
						.columns = TALLY_COLUMN_COUNT};
	struct tally_session *session = NULL;
	struct tally_data *data = NULL;
	struct tally_error error = {0};
	int status = cli_binaries_apply(NAME, &annotate->binaries, &options);

	if (status)
		return status;
	cli_progress_start(&progress, "Reading the recording");
	if (cli_data_open(annotate->input, annotate->max_expand, &data, &error)) {
		cli_progress_done(&progress);
		return cli_say_error(NAME, &error);
	}
	/* As perf: --group makes one group of all events where none was recorded. */
	if (annotate->together == GROUPS_TOGETHER && !tally_data_info(data)->group_count)
		annotate->together = ALL_TOGETHER;
	status = cli_choice_fit(NAME, &annotate->choice, data);
	if (status) {
		cli_progress_done(&progress);
	} else if (tally_session_new(data, &options, &session, &error)) {
		cli_progress_done(&progress);
		status = cli_say_error(NAME, &error);
	} else {
		status = show_session(annotate, session, &progress);
	}
	tally_session_free(session);
	tally_data_close(data);
	return status;
}

const struct cli_setting cmd_annotate_settings[] = {
    {"annotate.disassembler_style", "--disassembler-style", CLI_SETTING_CALL,
     offsetof(struct annotate, intel), .call = cli_take_syntax},
    {"annotate.hide_src_code", "--source", CLI_SETTING_BOOL,
     offsetof(struct annotate, hide_source)},
    {"annotate.show_nr_samples", "--show-nr-samples", CLI_SETTING_BOOL,
     offsetof(struct annotate, samples)},
    {"annotate.show_total_period", "--show-total-period", CLI_SETTING_BOOL,
     offsetof(struct annotate, total_period)},
    {"buildid.dir", "--buildid-dir", CLI_SETTING_TEXT,
     offsetof(struct annotate, binaries.usual_dir), .room = CLI_BUILD_ID_DIR},
    {.key = NULL},
};

/* Arguments are names of functions, beside those of -s.  They stay argv's. */
static int take_arguments(struct annotate *annotate, int argc, char **argv, int at)
{
	int result = 0;

	for (; at < argc && !result; at++)
		result = cli_list_add(&annotate->filter.symbols, argv[at], SIZE_MAX);
	return result;
}

static int check(const struct cli_usage *usage, struct annotate *annotate, int argc, char **argv,
		 int at)
{
	char *none[] = {NULL};
	int status = cli_recording_take(usage, 0, none, 0, &annotate->input);

	if (status)
		return status;
	if (take_arguments(annotate, argc, argv, at)) {
		cli_say(NAME, "not enough memory");
		return CLI_FAILED;
	}
	if (annotate->filter.symbols.count)
		annotate->functions = 0;
	if (annotate->prefix_strip > UINT16_MAX)
		return cli_usage_error(usage, "--prefix-strip: no path has so many folders");
	if (annotate->cpus &&
	    (tally_text_cpu_list(annotate->cpus, &annotate->cpu_numbers, &annotate->cpu_count) ||
	     !annotate->cpu_count))
		return cli_usage_error(usage, "--cpu '%s' is not a list of CPUs; write it as 0-3,7",
				       annotate->cpus);
	return cli_choice_parse(NAME, &annotate->choice);
}

int cmd_annotate(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS] [SYMBOL...]", NULL};
	static const struct cli_rule rules[] = {
	    {"-n,--show-total-period", CLI_ONE_OF, NULL, "they fill the same column"},
	    {"--json,--hot", CLI_ONE_OF, NULL,
	     "JSON has lines and instructions, both with their sums"},
	    {"--json", CLI_EXCLUDES, "-l,--group,--stdio-color", "these are for text"},
	    {"--hot", CLI_EXCLUDES, "-l", "its order is that of the summary"},
	    {"--type-stat", CLI_NEEDS, "--data-type", "it is about data types"},
	    {"--data-type", CLI_EXCLUDES, "--hot,-l,--functions,--skip-missing,--asm-raw,--group",
	     "these are for listings of code"},
	    {"--prefix-strip", CLI_NEEDS, "--prefix", "it is about paths that get a prefix"},
	    {NULL},
	};
	const struct cli_usage usage = {
	    .command = NAME,
	    .forms = forms,
	    .about = "Shows the instructions of the hottest functions, or of the named ones, with "
		     "their source lines and the share of samples of each.",
	    .mixed = true,
	    .rules = rules,
	};
	struct annotate annotate = {
	    .functions = FUNCTIONS_USUAL,
	    .source = true,
	    .together = ALL_TOGETHER,
	    .binaries.inlines = CLI_INLINE_USUAL,
	};
	const struct cli_option options[] = {
	    {CLI_GROUP, .help = "Input"},
	    CLI_INPUT(annotate.input),
	    CLI_BINARIES(annotate.binaries),
	    CLI_STRICT(annotate.strict),
	    CLI_FORCE(annotate.force),
	    CLI_MAX_EXPAND(annotate.max_expand),
	    {CLI_STRING, 0, "prefix", "DIR", "put this before absolute paths of source files",
	     .to = &annotate.prefix},
	    {CLI_U64, 0, "prefix-strip", "N",
	     "with --prefix: take this many folders from the front of these paths first",
	     .to = &annotate.prefix_strip},
	    {CLI_GROUP, .help = "Which functions, and which samples"},
	    {CLI_LIST, 's', "symbol", "NAMES", "these functions, as an argument",
	     .to = &annotate.filter.symbols},
	    {CLI_LIST, 'S', "symbols", "NAMES", NULL, .to = &annotate.filter.symbols,
	     .flags = CLI_HIDDEN},
	    {CLI_LIST, 'd', "dsos", "NAMES", "only functions of these binaries",
	     .to = &annotate.filter.dsos},
	    {CLI_U64, 0, "functions", "N",
	     "list this many of the hottest functions; 0: all (default: 3, or the named ones)",
	     .to = &annotate.functions},
	    {CLI_DOUBLE, 0, "percent-limit", "PERCENT",
	     "leave out functions below this share of every event", .to = &annotate.percent_limit},
	    {CLI_STRING, 0, "time", "SPANS",
	     "only from START,STOP in seconds, or parts of the time as 10%/2 or 0%-10%,30%-40%",
	     .to = &annotate.time},
	    {CLI_STRING, 'C', "cpu", "CPUS", "only these CPUs", .to = &annotate.cpus},
	    CLI_CHOICE(annotate.choice),
	    {CLI_FLAG, 0, "skip-missing", NULL, "leave out functions whose code cannot be read",
	     .to = &annotate.skip_missing},
	    {CLI_GROUP, .help = "Output"},
	    {CLI_FLAG, 0, "hot", NULL,
	     "source lines by their share, the hottest first, each with its instructions",
	     .to = &annotate.hot},
	    {CLI_CALL, 0, "percent-type", "TYPE", "what percents are of: {}",
	     .to = &annotate.percent_type, .call = take_percent_type, .word = percent_word},
	    {CLI_CALL, 0, "data-type", "NAME",
	     "the layouts of the types that instructions access, with the samples of each "
	     "member, or of this type alone",
	     .to = &annotate, .flags = CLI_OPTIONAL | CLI_ATTACHED, .call = take_data_type},
	    {CLI_FLAG, 0, "type-stat", NULL,
	     "with --data-type: how many samples have a type, and why others have none",
	     .to = &annotate.type_stat},
	    {CLI_FLAG, 'n', "show-nr-samples", NULL, "numbers of samples instead of percents",
	     .to = &annotate.samples},
	    {CLI_FLAG, 0, "show-total-period", NULL, "sums of periods instead of percents",
	     .to = &annotate.total_period},
	    {CLI_SET, 0, "group", NULL,
	     "only events of a group side by side, as perf does; --no-group: a listing for each "
	     "event (default: all side by side)",
	     .to = &annotate.together, .number = GROUPS_TOGETHER},
	    {CLI_FLAG, 0, "source", NULL, "source lines among the instructions (default)",
	     .to = &annotate.source},
	    {CLI_FLAG, 'l', "print-line", NULL,
	     "list the hottest lines first, and print the line behind each instruction with "
	     "samples",
	     .to = &annotate.lines},
	    {CLI_FLAG, 'P', "full-paths", NULL, "print whole paths", .to = &annotate.full_paths},
	    {CLI_FLAG, 0, "asm-raw", NULL, "print the bytes of instructions",
	     .to = &annotate.encoding},
	    {CLI_CALL, 'M', "disassembler-style", "STYLE", "of x86: att (default) or intel",
	     .to = &annotate.intel, .call = cli_take_syntax},
	    CLI_NO_DEMANGLE(annotate.binaries),
	    {CLI_FLAG, 0, "stdio", NULL, "print the same text on a terminal as into a file",
	     .to = &annotate.stdio},
	    {CLI_FLAG, 0, "stdio2", NULL, NULL, .to = &annotate.stdio, .flags = CLI_HIDDEN},
	    {CLI_CALL, 0, "tui", NULL, NULL, NULL, CLI_BARE | CLI_HIDDEN, refuse_screen},
	    {CLI_CALL, 0, "gtk", NULL, NULL, NULL, CLI_BARE | CLI_HIDDEN, refuse_screen},
	    {CLI_CALL, 0, "objdump", "FILE", NULL, NULL, CLI_HIDDEN, refuse_objdump},
	    {CLI_CALL, 0, "stdio-color", "WHEN", "always, never, or auto: on a terminal (default)",
	     .to = &annotate.colour, .call = cli_take_colour},
	    {CLI_FLAG, 0, "json", NULL, "JSON for other programs", .to = &annotate.json},
	    {CLI_FLAG, 'q', "quiet", NULL, "listings only, without lines about the functions",
	     .to = &annotate.quiet},
	    {CLI_COUNT, 'v', "verbose", NULL, "print why symbols are missing",
	     .to = &annotate.verbose},
	    {.kind = CLI_END},
	};
	int status = cli_settings_apply(NAME, cmd_annotate_settings, &annotate);
	int at = status ? -1 : cli_parse(&usage, options, argc, argv, &status);

	if (at >= 0)
		status = check(&usage, &annotate, argc, argv, at);
	if (at >= 0 && !status)
		status = run(&annotate);
	cli_choice_done(&annotate.choice);
	cli_filter_done(&annotate.filter);
	free(annotate.cpu_numbers);
	cli_binaries_done(&annotate.binaries);
	return status;
}
