/* `tally diff`: what changed between recordings. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/data.h>
#include <tally/diff.h>
#include <tally/page.h>
#include <tally/profile.h>
#include <tally/report.h>
#include <tally/session.h>
#include <tally/text.h>
#include "binaries.h"
#include "command.h"
#include "damage_notice.h"
#include "filter_lists.h"
#include "options.h"
#include "pager.h"
#include "progress.h"
#include "recording.h"
#include "say.h"
#include "terminal.h"
#include "two_words.h"

#define NAME            "diff"
#define KEYS_MOST       16
#define RECORDINGS_MOST 64
#define NOISE_USUAL     3.0 /* % */

struct keys {
	const char *names[KEYS_MOST];
	size_t count;
};

struct compute {
	enum tally_diff_compute kind;
	int64_t w1, w2;
};

/* One of the recordings. */
struct opened {
	struct tally_data *data;
	struct tally_session *session;
	struct tally_profile *profile;
	struct cli_progress progress; /* of the session, as long as that lives */
};

struct diff {
	const char *files[RECORDINGS_MOST];
	size_t file_count;
	const char *separator, *time, *cpus, *normalize, *page;
	uint32_t *cpu_numbers; /* of `cpus` */
	size_t cpu_count;
	struct cli_binaries binaries;
	struct cli_filter filter;
	struct keys keys;
	struct compute compute;
	double noise;
	uint64_t order, max_expand;
	unsigned verbose;
	bool baseline_only, period, formula, relative, quiet, json, changed, stdio, strict, force,
	    no_source;
};

static int take_keys(void *to, const char *value, bool on, struct tally_error *error)
{
	struct keys keys = {.count = 0};

	while (on && *value) {
		size_t length = strcspn(value, ",");
		const char *name = tally_key_find(value, length);

		if (!name)
			return cli_refuse_word(error, value, length, "key", tally_key_name);
		if (keys.count == KEYS_MOST)
			return cli_refuse(error, "more than %d keys", KEYS_MOST);
		keys.names[keys.count++] = name;
		value += length + (value[length] == ',');
	}
	if (keys.count)
		*(struct keys *)to = keys;
	return 0;
}

static const char *compute_word(size_t index, const char **ret_help)
{
	static const struct {
		const char *name, *help;
	} words[] = {
	    [TALLY_DIFF_DELTA_ABS] = {"delta-abs", "difference of shares, sorted without its sign "
						   "(default)"},
	    [TALLY_DIFF_DELTA] = {"delta", "difference of shares, sorted with its sign"},
	    [TALLY_DIFF_RATIO] = {"ratio", "period by that of the baseline"},
	    [TALLY_DIFF_WDIFF] = {"wdiff:W1,W2", "period * W2 - that of the baseline * W1"},
	};

	if (index >= sizeof(words) / sizeof(*words))
		return NULL;
	if (ret_help)
		*ret_help = words[index].help;
	return words[index].name;
}

static int take_compute(void *to, const char *value, bool on, struct tally_error *error)
{
	struct compute compute = {.kind = TALLY_DIFF_DELTA_ABS, .w1 = 1, .w2 = 1};
	const char *name;
	char *end;

	if (!on) {
		*(struct compute *)to = compute;
		return 0;
	}
	if (!strncmp(value, "wdiff:", 6)) {
		errno = 0;
		compute.kind = TALLY_DIFF_WDIFF;
		compute.w1 = strtoll(value + 6, &end, 10);
		if (end == value + 6 || *end != ',')
			return cli_refuse(error, "'%s' lacks its weights: write wdiff:1,2", value);
		value = end + 1;
		compute.w2 = strtoll(value, &end, 10);
		if (end == value || *end || errno)
			return cli_refuse(error, "the weights of wdiff are whole numbers, as in "
						 "wdiff:1,2");
		*(struct compute *)to = compute;
		return 0;
	}
	for (size_t i = 0; (name = compute_word(i, NULL)); i++)
		if (!strcmp(name, value) && i != TALLY_DIFF_WDIFF) {
			compute.kind = (enum tally_diff_compute)i;
			*(struct compute *)to = compute;
			return 0;
		}
	return cli_refuse_word(error, value, strlen(value), "way to compare", compute_word);
}

static int refuse_stream(void *to, const char *value, bool on, struct tally_error *error)
{
	(void)to;
	(void)value;
	return on ? cli_refuse(error, "tally does not compare single call chains; compare with "
				      "`tally report -g`")
		  : 0;
}

static struct tally_profile_options rows_of(const struct diff *diff)
{
	return (struct tally_profile_options){
	    .size = sizeof(struct tally_profile_options),
	    .keys = diff->keys.names,
	    .key_count = diff->keys.count,
	    CLI_FILTER_FIELDS(diff->filter),
	    .relative = diff->relative,
	    .time = diff->time,
	    .cpus = diff->cpu_numbers,
	    .cpu_count = diff->cpu_count,
	};
}

/* Reads one recording.  0, or the exit status after having printed why. */
static int open_one(const struct diff *diff, const char *path, struct opened *ret)
{
	struct tally_session_options options = {.size = sizeof(options),
						.progress = cli_progress_update,
						.progress_context = &ret->progress,
						.functions = true,
						/* A table needs no call chains; a page does. */
						.columns = diff->page ? 0 : TALLY_COLUMN_COUNT};
	const struct tally_profile_options rows = rows_of(diff);
	struct tally_error error = {0};
	int status = cli_binaries_apply(NAME, &diff->binaries, &options), result;

	if (status)
		return status;
	cli_progress_start(&ret->progress, "Reading the recordings");
	result = cli_data_open(path, diff->max_expand, &ret->data, &error);
	if (!result && diff->page)
		cli_binaries_fit(&diff->binaries, ret->data, &options);
	if (!result)
		result = tally_session_new(ret->data, &options, &ret->session, &error);
	if (!result)
		result = tally_profile_new(ret->session, &rows, &ret->profile, &error);
	cli_progress_done(&ret->progress);
	if (!result && diff->verbose)
		(void)tally_report_missing(ret->session, stderr);
	return result ? cli_say_error(NAME, &error) : 0;
}

static int show(const struct diff *diff, const struct tally_diff *made)
{
	const struct tally_diff_text options = {
	    .size = sizeof(options),
	    .json = diff->json,
	    .show_period = diff->period,
	    .show_formula = diff->formula,
	    .quiet = diff->quiet,
	    .significant_only = diff->changed,
	    .separator = diff->separator,
	    .names = diff->files,
	    .width = diff->stdio ? 0 : cli_term_width(),
	};
	struct cli_pager pager;
	int result;

	cli_pager_start(&pager);
	result = tally_diff_write(made, &options, stdout);
	cli_pager_finish(&pager);
	if (result == -ENOMEM)
		cli_say(NAME, "not enough memory for the table");
	return !result || result == -EPIPE ? CLI_OK : CLI_FAILED;
}

/* The same as a page, on standard output for "-". */
static int write_page(const struct diff *diff, struct opened *opened, const struct tally_diff *made)
{
	const struct tally_profile_options options = rows_of(diff);
	struct tally_page_options page = {.size = sizeof(page)};
	bool stream = !strcmp(diff->page, "-");
	struct tally_error error = {0};
	uint64_t size = 0;
	int result;

	page.to = stream ? stdout : NULL;
	page.no_source = diff->no_source;
	cli_progress_start(&opened[0].progress, "Reading the recordings");
	cli_progress_start(&opened[1].progress, "Reading the recordings");
	result = tally_page_write_diff(made, &options, &page, diff->page, &size, &error);
	cli_progress_done(&opened[0].progress);
	cli_progress_done(&opened[1].progress);
	if (!result && !stream)
		cli_say(NAME, "%s: %.1f MB, for a browser", diff->page, (double)size / 1e6);
	return !result || (result == -EPIPE && stream) ? CLI_OK : cli_say_error(NAME, &error);
}

static int compare(const struct diff *diff, struct opened *opened)
{
	const struct tally_diff_options options = {
	    .size = sizeof(options),
	    .compute = diff->compute.kind,
	    .w1 = diff->compute.w1,
	    .w2 = diff->compute.w2,
	    .order_by = (size_t)diff->order,
	    .baseline_only = diff->baseline_only,
	    .normalize = diff->normalize,
	    .noise = diff->noise,
	    .time = diff->time,
	    .cpus = diff->cpu_numbers,
	    .cpu_count = diff->cpu_count,
	};
	struct tally_profile *profiles[RECORDINGS_MOST];
	struct tally_diff *made = NULL;
	struct tally_error error = {0};
	int status;

	for (size_t i = 0; i < diff->file_count; i++)
		profiles[i] = opened[i].profile;
	status = tally_diff_new(profiles, diff->file_count, &options, &made, &error);
	for (size_t i = 0; i < diff->file_count; i++)
		cli_progress_done(&opened[i].progress);
	if (status)
		return cli_say_error(NAME, &error);
	status = diff->page ? write_page(diff, opened, made) : show(diff, made);
	tally_diff_free(made);
	return status;
}

static int run(const struct diff *diff)
{
	struct opened *opened = calloc(diff->file_count, sizeof(*opened));
	int status = 0, damage = 0;

	if (!opened) {
		cli_say(NAME, "not enough memory");
		return CLI_FAILED;
	}
	for (size_t i = 0; i < diff->file_count && !status; i++) {
		status = open_one(diff, diff->files[i], &opened[i]);
		if (!status && diff->strict && cli_refuse_damage(NAME, opened[i].data))
			status = CLI_FAILED;
		else if (!status && cli_report_damage(NAME, opened[i].data))
			damage = CLI_FAILED;
	}
	if (!status)
		status = compare(diff, opened);
	for (size_t i = 0; i < diff->file_count; i++) {
		tally_profile_free(opened[i].profile);
		tally_session_free(opened[i].session);
		if (opened[i].data)
			tally_data_close(opened[i].data);
	}
	free(opened);
	return status ? status : damage;
}

const struct cli_setting cmd_diff_settings[] = {
    {"diff.compute", "--compute", CLI_SETTING_CALL, offsetof(struct diff, compute),
     .call = take_compute},
    {"hist.percentage", "--percentage", CLI_SETTING_CALL, offsetof(struct diff, relative),
     .call = cli_take_percentage},
    {"buildid.dir", "--buildid-dir", CLI_SETTING_TEXT, offsetof(struct diff, binaries.usual_dir),
     .room = CLI_BUILD_ID_DIR},
    {.key = NULL},
};

/* perf's: one argument is the newer recording. */
static int take_files(const struct cli_usage *usage, struct diff *diff, int argc, char **argv,
		      int at)
{
	int count = argc - at;

	if (count > RECORDINGS_MOST)
		return cli_usage_error(usage, "more than %d recordings", RECORDINGS_MOST);
	diff->files[0] = "perf.data.old";
	diff->files[1] = "perf.data";
	diff->file_count = count < 2 ? 2 : (size_t)count;
	if (diff->page && diff->file_count > 2)
		return cli_usage_error(usage, "--html: a page compares two recordings");
	for (int i = 0; i < count; i++)
		diff->files[count == 1 ? 1 : i] = argv[at + i];
	if (diff->order >= diff->file_count)
		return cli_usage_error(usage, "--order %llu: there are %zu recordings, from 0",
				       (unsigned long long)diff->order, diff->file_count);
	if (!isfinite(diff->noise) || diff->noise < 0 || diff->noise > 100)
		return cli_usage_error(usage, "--noise is a percentage from 0 to 100");
	return 0;
}

int cmd_diff(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS] [OLD NEW [NEW...]]", NULL};
	static const struct cli_rule rules[] = {
	    {"--json", CLI_EXCLUDES, "-t,-F,-p,-q", "it has all numbers"},
	    {"--html", CLI_EXCLUDES, "--json,-t,-F,-p,-q,-s,-b,-c,-o,--changed,--stdio",
	     "the page has all numbers of all functions, sorted as its reader likes"},
	    {"--no-source", CLI_NEEDS, "--html", "only the page has source"},
	    {NULL},
	};
	const struct cli_usage usage = {
	    .command = NAME,
	    .forms = forms,
	    .about = "Shows what changed between recordings: the share of each function in the "
		     "first one and how it differs in the others, and whether that is more than "
		     "chance and the noise between equal runs explain.",
	    .mixed = true,
	    .rules = rules,
	};
	struct diff diff = {
	    .keys = {{"dso", "symbol"}, 2},
	    .compute = {.w1 = 1, .w2 = 1},
	    .order = 1,
	    .noise = NOISE_USUAL,
	    .binaries.inlines = CLI_INLINE_USUAL,
	};
	const struct cli_option options[] = {
	    {CLI_GROUP, .help = "Input"},
	    CLI_BINARIES(diff.binaries),
	    CLI_NO_DEMANGLE(diff.binaries),
	    CLI_STRICT(diff.strict),
	    CLI_FORCE(diff.force),
	    CLI_MAX_EXPAND(diff.max_expand),
	    {CLI_GROUP, .help = "Rows"},
	    {CLI_CALL, 's', "sort", "KEYS",
	     "the keys that rows are made of (default: dso,symbol): {}", .to = &diff.keys,
	     .call = take_keys, .word = tally_key_name},
	    {CLI_LIST, 'C', "comms", "NAMES", "only these commands", .to = &diff.filter.comms},
	    {CLI_LIST, 'd', "dsos", "NAMES", "only samples in these binaries",
	     .to = &diff.filter.dsos},
	    {CLI_LIST, 'S', "symbols", "NAMES", "only samples in these functions",
	     .to = &diff.filter.symbols},
	    {CLI_LIST, 0, "pid", "PIDS", "only these processes", .to = &diff.filter.pids},
	    {CLI_LIST, 0, "tid", "TIDS", "only these threads", .to = &diff.filter.tids},
	    {CLI_STRING, 0, "cpu", "CPUS", "only these CPUs", .to = &diff.cpus},
	    {CLI_STRING, 0, "time", "SPANS",
	     "only from START,STOP in seconds, or parts of the time as 10%/2 or 0%-10%,30%-40%",
	     .to = &diff.time},
	    {CLI_CALL, 0, "percentage", "OF",
	     "with a filter, what 100 % is: absolute, all samples of the event (default), or "
	     "relative, the samples that pass",
	     .to = &diff.relative, .call = cli_take_percentage},
	    {CLI_FLAG, 'b', "baseline-only", NULL, "only rows that the first recording has",
	     .to = &diff.baseline_only},
	    {CLI_FLAG, 0, "changed", NULL, "only rows that changed by more than chance and noise",
	     .to = &diff.changed},
	    {CLI_GROUP, .help = "How rows are compared"},
	    {CLI_CALL, 'c', "compute", "HOW", "the change of a row: {}", .to = &diff.compute,
	     .call = take_compute, .word = compute_word},
	    {CLI_U64, 'o', "order", "N",
	     "sort by the change in this recording (default: 1); 0: by the baseline",
	     .to = &diff.order},
	    {CLI_STRING, 0, "normalize", "BY",
	     "what numbers of samples are compared by: samples (all of them, default), time, none "
	     "(the same work was recorded), or the name of an event",
	     .to = &diff.normalize},
	    {CLI_DOUBLE, 0, "noise", "PERCENT",
	     "how much equal runs differ, beside chance (default: 3)", .to = &diff.noise},
	    {CLI_GROUP, .help = "Output"},
	    {CLI_FLAG, 'p', "period", NULL, "columns with the sums of periods", .to = &diff.period},
	    {CLI_FLAG, 'F', "formula", NULL, "a column with how the change is computed",
	     .to = &diff.formula},
	    {CLI_STRING, 't', "field-separator", "TEXT",
	     "print this text between columns instead of spaces", .to = &diff.separator},
	    {CLI_FLAG, 'q', "quiet", NULL, "rows only, without header lines", .to = &diff.quiet},
	    {CLI_FLAG, 0, "stdio", NULL, "print the same text on a terminal as into a file",
	     .to = &diff.stdio},
	    {CLI_FLAG, 0, "json", NULL, "JSON for other programs", .to = &diff.json},
	    {CLI_STRING, 0, "html", "FILE",
	     "a page for a browser, with both as graphs over time; - is standard output",
	     .to = &diff.page},
	    {CLI_FLAG, 0, "no-source", NULL,
	     "with --html: without the source and assembly of the hottest functions",
	     .to = &diff.no_source},
	    {CLI_COUNT, 'v', "verbose", NULL, "print why symbols are missing", .to = &diff.verbose},
	    {CLI_CALL, 0, "stream", NULL, NULL, NULL, CLI_BARE | CLI_HIDDEN, refuse_stream},
	    {.kind = CLI_END},
	};
	int status = cli_settings_apply(NAME, cmd_diff_settings, &diff);
	int at = status ? -1 : cli_parse(&usage, options, argc, argv, &status);

	if (at >= 0)
		status = take_files(&usage, &diff, argc, argv, at);
	if (at >= 0 && !status)
		status = cli_filter_numbers(&usage, &diff.filter);
	if (at >= 0 && !status && diff.cpus &&
	    (tally_text_cpu_list(diff.cpus, &diff.cpu_numbers, &diff.cpu_count) || !diff.cpu_count))
		status = cli_usage_error(
		    &usage, "--cpu '%s' is not a list of CPUs; write it as 0-3,7", diff.cpus);
	if (at >= 0 && !status)
		status = run(&diff);
	cli_filter_done(&diff.filter);
	free(diff.cpu_numbers);
	cli_binaries_done(&diff.binaries);
	return status;
}
