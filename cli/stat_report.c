/* `tally stat report`: prints a recording of counts, as `tally stat` printed them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/abi.h>
#include <tally/data.h>
#include <tally/text.h>
#include "command.h"
#include "damage_notice.h"
#include "progress.h"
#include "recording.h"
#include "say.h"
#include "stat_command.h"

struct report {
	struct stat_ask ask;
	const char *input;
	uint64_t max_expand;
	struct tally_data *data;
	struct stat_output output;
	bool by_given;
	struct tally_stat_rounds *rounds;
	struct tally_stat *stat; /* made at the first round */
	uint64_t last;           /* ns: the end of the interval before */
};

static int make_model(struct report *report)
{
	struct tally_stat_options options = *tally_stat_rounds_options(report->rounds);
	struct tally_error error;

	if (report->by_given)
		options.by = report->ask.by;
	if (report->by_given && options.places[0].cpu < 0 && options.by != TALLY_STAT_THREAD) {
		cli_say("stat", "%s has counts of tasks, not of CPUs", report->input);
		return CLI_USAGE;
	}
	if (tally_stat_new(&options, &report->stat, &error))
		return cli_say_error("stat", &error);
	tally_stat_begin(report->stat);
	return CLI_OK;
}

static int print_round(struct report *report, const struct tally_stat_round *round)
{
	struct tally_stat_times times = {.elapsed = round->time};
	struct stat_run_times none = {0};
	int status = report->stat ? CLI_OK : make_model(report);

	if (status)
		return status;
	if (round->last) {
		tally_stat_finish(report->stat, round->counts, &times);
		stat_output_end(&report->output, report->stat, &none);
		return CLI_OK;
	}
	times.elapsed -= report->last;
	tally_stat_interval(report->stat, round->counts, &times);
	report->last = round->time;
	stat_output_interval(&report->output, report->stat, round->time);
	return CLI_OK;
}

/* A recording from a pipe has perf's name for it, whoever wrote it. */
static char *title_of(const struct tally_data *data)
{
	const struct tally_data_info *info = tally_data_info(data);
	size_t length = 3;
	char *title, *at;

	if (!info->cmdline_count || tally_data_kind(data) == TALLY_DATA_PIPE)
		return strdup("'pipe'");
	for (size_t i = 0; i < info->cmdline_count; i++)
		length += strlen(info->cmdline[i]) + 1;
	title = at = malloc(length);
	if (!title)
		return NULL;
	*at++ = '\'';
	for (size_t i = 0; i < info->cmdline_count; i++) {
		if (i)
			*at++ = ' ';
		at = stpcpy(at, info->cmdline[i]);
	}
	stpcpy(at, "'");
	return title;
}

/* After the last round. */
static int finish(struct tally_data *data, const char *input, bool any)
{
	int status = cli_report_damage("stat", data);

	if (status || any)
		return status;
	cli_say("stat", "%s has no counts: it is not from `stat record`", input);
	return CLI_FAILED;
}

static int print_rounds(struct report *report)
{
	struct tally_stat_round round = {.size = sizeof(round)};
	struct tally_error error;
	int status = CLI_OK, got;

	if (tally_stat_rounds_new(report->data, &report->rounds, &error))
		return cli_say_error("stat", &error);
	while (!status && (got = tally_stat_rounds_next(report->rounds, &round, &error)) > 0)
		status = print_round(report, &round);
	if (status)
		return status;
	return got < 0 ? cli_say_error("stat", &error)
		       : finish(report->data, report->input, report->stat);
}

static int read_all(struct report *report)
{
	struct tally_error error;

	if (cli_data_open(report->input, report->max_expand, &report->data, &error))
		return cli_say_error("stat", &error);
	free(report->output.title);
	report->output.title = title_of(report->data);
	return print_rounds(report);
}

static const struct cli_rule rules[] = {
    {"-x,-j,--json", CLI_ONE_OF, NULL, "each is a format of the whole output"},
    {NULL},
};

static int parse_and_report(struct report *report, int argc, char **argv)
{
	static const char *const forms[] = {"report [OPTIONS] [FILE]", NULL};
	static const struct cli_usage usage = {
	    .command = "stat",
	    .forms = forms,
	    .about =
		"Prints the counts of a recording of `tally stat record` or `perf stat record`.",
	    .mixed = true,
	    .rules = rules,
	};
	struct stat_ask *ask = &report->ask;
	const struct cli_option options[] = {
	    CLI_INPUT(report->input),
	    CLI_MAX_EXPAND(report->max_expand),
	    {CLI_SET, 'A', "no-aggr", NULL, "a row for each CPU", &ask->by,
	     .number = TALLY_STAT_CPU},
	    {CLI_SET, 0, "per-thread", NULL, "a row for each thread", &ask->by,
	     .number = TALLY_STAT_THREAD},
	    {CLI_SET, 0, "per-core", NULL, "a row for each core", &ask->by,
	     .number = TALLY_STAT_CORE},
	    {CLI_SET, 0, "per-die", NULL, "a row for each die", &ask->by, .number = TALLY_STAT_DIE},
	    {CLI_SET, 0, "per-socket", NULL, "a row for each socket", &ask->by,
	     .number = TALLY_STAT_SOCKET},
	    {CLI_SET, 0, "per-node", NULL, "a row for each NUMA node", &ask->by,
	     .number = TALLY_STAT_NODE},
	    {CLI_STRING, 'x', "field-separator", "SEPARATOR", "CSV, as perf", &ask->separator,
	     CLI_EMPTY},
	    {CLI_FLAG, 'j', "json-output", NULL, "JSON lines, as perf", &ask->perf_json},
	    {CLI_FLAG, 0, "json", NULL, "JSON with everything that is known of each count",
	     &ask->json},
	    {CLI_STRING, 'o', "output", "FILE", "write here instead of standard error",
	     &ask->output},
	    {CLI_FLAG, 0, "append", NULL, "append to the file of -o", &ask->append},
	    {.kind = CLI_END},
	};
	int status, at = cli_parse(&usage, options, argc, argv, &status);

	if (at < 0)
		return status;
	ask->usage = &usage;
	report->by_given = ask->by != TALLY_STAT_GLOBAL;
	status = cli_recording_take(&usage, argc, argv, at, &report->input);
	if (!status)
		status = stat_output_open(&report->output, ask);
	if (status)
		return status;
	status = read_all(report);
	return stat_output_close(&report->output) ? CLI_FAILED : status;
}

int stat_report(int argc, char **argv)
{
	struct report report = {.ask = {.repeat = 1, .big_num = true}};
	int status = parse_and_report(&report, argc, argv);

	tally_stat_free(report.stat);
	tally_stat_rounds_free(report.rounds);
	tally_data_close(report.data);
	return status;
}

/* --- lines as perf script's --- */

static bool is_on_cpu(const struct tally_data_event *event, int32_t cpu)
{
	if (!event->cpu_count || cpu < 0)
		return true;
	for (size_t i = 0; i < event->cpu_count; i++)
		if (event->cpus[i] == (uint32_t)cpu)
			return true;
	return false;
}

/* Source: __process_stat() of perf 6.1's builtin-script.c. */
static void list_round(const struct tally_data *data, const struct tally_stat_options *of,
		       const struct tally_stat_round *round)
{
	const struct tally_count *count = round->counts;

	for (size_t event = 0; event < of->event_count; event++) {
		char name[1024];

		tally_text_escape(of->events[event].name, name, sizeof(name));
		for (size_t i = 0; i < of->place_count; i++, count++) {
			const struct tally_stat_place *place = &of->places[i];

			if (is_on_cpu(tally_data_event(data, event), place->cpu))
				printf("%3d %8d %15llu %15llu %15llu %15llu %s\n", place->cpu,
				       place->tid, (unsigned long long)count->raw,
				       (unsigned long long)count->time_enabled,
				       (unsigned long long)count->time_running,
				       (unsigned long long)round->time, name);
		}
	}
}

int stat_report_list(struct tally_data *data, const char *input)
{
	struct tally_stat_round round = {.size = sizeof(round)};
	struct tally_stat_rounds *rounds;
	struct tally_error error;
	bool any = false;
	int got;

	if (tally_stat_rounds_new(data, &rounds, &error))
		return cli_say_error("stat", &error);
	while ((got = tally_stat_rounds_next(rounds, &round, &error)) > 0) {
		if (!any)
			printf("%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA",
			       "RUN", "TIME", "EVENT");
		list_round(data, tally_stat_rounds_options(rounds), &round);
		any = true;
	}
	tally_stat_rounds_free(rounds);
	return got < 0 ? cli_say_error("stat", &error) : finish(data, input, any);
}
