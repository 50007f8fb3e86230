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

#define PLACES_MOST 4000000 /* of all events together */

struct report {
	struct stat_ask ask;
	const char *input;
	uint64_t max_expand;
	struct tally_data *data;
	struct stat_output output;
	bool by_given, has_threads, has_cpus;
	struct tally_stat_event *events;
	char **units;
	size_t event_count;
	struct tally_thread_map_entry *threads;
	size_t thread_count;
	int32_t *cpus;
	size_t cpu_count;
	struct tally_stat_place *places; /* [thread][cpu] */
	struct tally_count *counts;
	struct tally_stat *stat; /* made at the first round */
	uint64_t last;           /* ns: the end of the interval before */
	bool interval, printed;
	bool listed; /* to stdout, a line for each count and round */
};

int stat_record_mode(enum tally_stat_by by)
{
	static const int modes[] = {
	    [TALLY_STAT_GLOBAL] = 1, [TALLY_STAT_CPU] = 0,      [TALLY_STAT_THREAD] = 5,
	    [TALLY_STAT_CORE] = 4,   [TALLY_STAT_CLUSTER] = -1, [TALLY_STAT_CACHE] = -1,
	    [TALLY_STAT_DIE] = 3,    [TALLY_STAT_SOCKET] = 2,   [TALLY_STAT_NODE] = 7,
	};

	return modes[by];
}

static int no_memory(void)
{
	cli_say("stat", "out of memory");
	return CLI_FAILED;
}

/* --- what was counted --- */

static int take_events(struct report *report)
{
	report->event_count = tally_data_event_count(report->data);
	report->events = calloc(report->event_count + 1, sizeof(*report->events));
	report->units = calloc(report->event_count + 1, sizeof(*report->units));
	if (!report->events || !report->units)
		return no_memory();
	for (size_t i = 0; i < report->event_count; i++) {
		const struct tally_data_event *event = tally_data_event(report->data, i);

		report->events[i] = (struct tally_stat_event){
		    .attr = event->attr,
		    .name = event->name,
		    .unit = event->unit,
		    .scale = event->scale,
		};
	}
	return CLI_OK;
}

static void take_update(struct report *report, const struct tally_record_event_update *update)
{
	int event = tally_data_find_event(report->data, update->id);
	size_t length = strnlen((const char *)update->data, update->data_size);
	double scale;

	if (event < 0 || report->stat)
		return;
	if (update->type == 0 && length < 64) {
		free(report->units[event]);
		report->units[event] = strndup((const char *)update->data, length);
		report->events[event].unit = report->units[event];
	} else if (update->type == 1 && update->data_size >= sizeof(scale)) {
		memcpy(&scale, update->data, sizeof(scale));
		if (scale > 0 && scale < 1e18)
			report->events[event].scale = scale;
	}
}

static int take_threads(struct report *report, const struct tally_record_thread_map *map)
{
	if (report->has_threads || map->nr > PLACES_MOST)
		return CLI_OK;
	report->threads = calloc(map->nr + 1, sizeof(*report->threads));
	if (!report->threads)
		return no_memory();
	for (size_t i = 0; i < map->nr; i++) {
		report->threads[i] = map->entries[i];
		report->threads[i].comm[sizeof(report->threads[i].comm) - 1] = 0;
	}
	report->thread_count = map->nr;
	report->has_threads = true;
	return CLI_OK;
}

static void add_cpu(struct report *report, int32_t cpu)
{
	report->cpus[report->cpu_count++] = cpu;
}

static uint64_t word_of(const struct tally_record_cpu_map *map, size_t index)
{
	uint64_t wide = 0;
	uint32_t narrow;

	if (map->long_size == 8) {
		memcpy(&wide, map->data + index * 8, 8);
		return wide;
	}
	memcpy(&narrow, map->data + index * 4, 4);
	return narrow;
}

static int take_cpus(struct report *report, const struct tally_record_cpu_map *map)
{
	size_t bits = map->long_size == 8 ? 64 : 32;

	if (report->has_cpus)
		return CLI_OK;
	report->cpus = calloc((size_t)UINT16_MAX * 64 + 2, sizeof(*report->cpus));
	if (!report->cpus)
		return no_memory();
	report->has_cpus = true;
	if (map->type == 0)
		for (size_t i = 0; i < map->nr; i++) {
			uint16_t cpu;

			memcpy(&cpu, map->data + i * 2, 2);
			add_cpu(report, cpu == UINT16_MAX ? -1 : cpu);
		}
	else if (map->type == 1)
		for (size_t i = 0; i < map->nr * bits; i++) {
			if (word_of(map, i / bits) >> i % bits & 1)
				add_cpu(report, (int32_t)i);
		}
	else if (map->type == 2)
		for (uint32_t cpu = map->start_cpu; cpu <= map->end_cpu; cpu++)
			add_cpu(report, (int32_t)cpu);
	if (map->any_cpu && !report->cpu_count)
		add_cpu(report, -1);
	return CLI_OK;
}

static void take_config(struct report *report, const struct tally_record_stat_config *config)
{
	for (size_t i = 0; i < config->nr && !report->stat; i++) {
		const struct tally_stat_config_entry *entry = &config->entries[i];

		if (entry->tag == 1)
			report->interval = entry->value != 0;
		if (entry->tag == 2)
			report->ask.no_scale = !entry->value;
		for (int by = TALLY_STAT_GLOBAL;
		     entry->tag == 0 && !report->by_given && by <= TALLY_STAT_NODE; by++)
			if (stat_record_mode((enum tally_stat_by)by) >= 0 &&
			    (uint64_t)stat_record_mode((enum tally_stat_by)by) == entry->value)
				report->ask.by = (enum tally_stat_by)by;
	}
}

/* --- places --- */

static int32_t node_of(const struct tally_data_info *info, int32_t cpu)
{
	for (size_t i = 0; i < info->numa_node_count; i++) {
		uint32_t *cpus;
		size_t count;
		bool there = false;

		if (!info->numa_nodes[i].cpus ||
		    tally_text_cpu_list(info->numa_nodes[i].cpus, &cpus, &count))
			continue;
		for (size_t j = 0; j < count; j++)
			there |= (int32_t)cpus[j] == cpu;
		free(cpus);
		if (there)
			return (int32_t)info->numa_nodes[i].node;
	}
	return 0;
}

static struct tally_stat_place place_of(const struct report *report, size_t thread, size_t cpu)
{
	const struct tally_data_info *info = tally_data_info(report->data);
	const struct tally_data_topology *topology = &info->topology;
	struct tally_stat_place place = {
	    .cpu = report->cpus[cpu],
	    .tid = (int32_t)report->threads[thread].pid,
	    .socket = -1,
	    .die = -1,
	    .cluster = -1,
	    .cache = -1,
	    .core = -1,
	    .node = -1,
	    .comm = report->threads[thread].comm,
	};

	if (place.cpu < 0)
		return place;
	if ((size_t)place.cpu < topology->cpu_count) {
		place.socket = (int32_t)topology->cpus[place.cpu].socket;
		place.die = (int32_t)topology->cpus[place.cpu].die;
		place.core = (int32_t)topology->cpus[place.cpu].core;
	}
	place.node = node_of(info, place.cpu);
	return place;
}

static int make_model(struct report *report)
{
	size_t places = report->thread_count * report->cpu_count;
	struct tally_stat_options options = {.size = sizeof(options), .merge = true};
	struct tally_error error;

	if (!places || places > PLACES_MOST / (report->event_count + 1)) {
		cli_say("stat", "%s does not describe threads and CPUs: is it from `stat record`?",
			report->input);
		return CLI_FAILED;
	}
	report->places = calloc(places, sizeof(*report->places));
	report->counts = calloc(places * report->event_count + 1, sizeof(*report->counts));
	if (!report->places || !report->counts)
		return no_memory();
	for (size_t i = 0; i < places; i++)
		report->places[i] = place_of(report, i / report->cpu_count, i % report->cpu_count);
	if (report->by_given && report->cpus[0] < 0 && report->ask.by != TALLY_STAT_THREAD &&
	    report->ask.by != TALLY_STAT_GLOBAL) {
		cli_say("stat", "%s has counts of tasks, not of CPUs", report->input);
		return CLI_USAGE;
	}
	options.events = report->events;
	options.event_count = report->event_count;
	options.places = report->places;
	options.place_count = places;
	options.by = report->ask.by;
	options.unscaled = report->ask.no_scale;
	if (tally_stat_new(&options, &report->stat, &error))
		return cli_say_error("stat", &error);
	tally_stat_begin(report->stat);
	return CLI_OK;
}

/* --- counts --- */

static int take_count(struct report *report, const struct tally_record_stat *from)
{
	int event = tally_data_find_event(report->data, from->id), status;
	struct tally_count *count;
	size_t cpu = 0;

	if (!report->counts) {
		status = make_model(report);
		if (status)
			return status;
	}
	while (cpu < report->cpu_count && report->cpus[cpu] != (int32_t)from->cpu)
		cpu++;
	if (event < 0 || cpu == report->cpu_count || from->thread >= report->thread_count)
		return CLI_OK;
	count = &report->counts[((size_t)event * report->thread_count + from->thread) *
				    report->cpu_count +
				cpu];
	*count = (struct tally_count){
	    .raw = from->value,
	    .time_enabled = from->enabled,
	    .time_running = from->running,
	    .places = 1,
	    .quality = !from->enabled                  ? TALLY_COUNT_IDLE
		       : !from->running                ? TALLY_COUNT_NEVER_RAN
		       : from->running < from->enabled ? TALLY_COUNT_SCALED
						       : TALLY_COUNT_COUNTED,
	};
	return CLI_OK;
}

/* Events without any count could not be counted. */
static void mark_missing(struct report *report)
{
	size_t places = report->thread_count * report->cpu_count;

	for (size_t i = 0; i < report->event_count; i++) {
		bool any = false;

		for (size_t j = 0; j < places; j++)
			any |= report->counts[i * places + j].quality != TALLY_COUNT_ELSEWHERE;
		for (size_t j = 0; j < places && !any; j++)
			report->counts[i * places + j] = (struct tally_count){
			    .missing = 1, .quality = TALLY_COUNT_NOT_SUPPORTED};
	}
}

static bool is_on_cpu(const struct tally_data_event *event, int32_t cpu)
{
	if (!event->cpu_count || cpu < 0)
		return true;
	for (size_t i = 0; i < event->cpu_count; i++)
		if (event->cpus[i] == (uint32_t)cpu)
			return true;
	return false;
}

/* perf script's lines.  Source: __process_stat() of perf 6.1's builtin-script.c. */
static void list_round(const struct report *report, uint64_t time)
{
	const struct tally_count *count = report->counts;

	if (!report->printed)
		printf("%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA", "RUN",
		       "TIME", "EVENT");
	for (size_t event = 0; event < report->event_count; event++) {
		char name[1024];

		tally_text_escape(report->events[event].name, name, sizeof(name));
		for (size_t thread = 0; thread < report->thread_count; thread++)
			for (size_t cpu = 0; cpu < report->cpu_count; cpu++, count++)
				if (is_on_cpu(tally_data_event(report->data, event),
					      report->cpus[cpu]))
					printf("%3d %8d %15llu %15llu %15llu %15llu %s\n",
					       report->cpus[cpu], (int)report->threads[thread].pid,
					       (unsigned long long)count->raw,
					       (unsigned long long)count->time_enabled,
					       (unsigned long long)count->time_running,
					       (unsigned long long)time, name);
	}
}

static int take_round(struct report *report, const struct tally_record_stat_round *round)
{
	struct tally_stat_times times = {.elapsed = round->time - report->last};
	struct stat_run_times none = {0};
	int status = report->counts ? CLI_OK : make_model(report);

	if (status)
		return status;
	if (report->listed)
		list_round(report, round->time);
	mark_missing(report);
	report->printed = true;
	if (report->listed)
		return CLI_OK;
	if (round->type == 0) {
		tally_stat_interval(report->stat, report->counts, &times);
		report->last = round->time;
		stat_output_interval(&report->output, report->stat, round->time);
		return CLI_OK;
	}
	times.elapsed = round->time;
	tally_stat_finish(report->stat, report->counts, &times);
	stat_output_end(&report->output, report->stat, &none);
	return CLI_OK;
}

static int take_record(struct report *report, const struct tally_record *record)
{
	static const struct tally_layout none;
	struct tally_error error;
	struct tally_body body = {.size = sizeof(body)};

	if ((record->type < PERF_RECORD_THREAD_MAP || record->type > PERF_RECORD_EVENT_UPDATE) ||
	    tally_record_decode(&none, record, &body, &error))
		return CLI_OK;
	switch (record->type) {
	case PERF_RECORD_EVENT_UPDATE:
		take_update(report, &body.event_update);
		return CLI_OK;
	case PERF_RECORD_THREAD_MAP:
		return take_threads(report, &body.thread_map);
	case PERF_RECORD_CPU_MAP:
		return take_cpus(report, &body.cpu_map);
	case PERF_RECORD_STAT_CONFIG:
		take_config(report, &body.stat_config);
		return CLI_OK;
	case PERF_RECORD_STAT:
		return take_count(report, &body.stat);
	case PERF_RECORD_STAT_ROUND:
		return take_round(report, &body.stat_round);
	default:
		return CLI_OK;
	}
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

static int read_rounds(struct report *report)
{
	struct tally_error error;
	struct tally_record record;
	int got, status = take_events(report);

	while (!status && (got = tally_data_next_record(report->data, &record, &error)) > 0)
		status = take_record(report, &record);
	if (!status && got < 0)
		status = cli_say_error("stat", &error);
	if (!status)
		status = cli_report_damage("stat", report->data);
	if (!status && !report->printed) {
		cli_say("stat", "%s has no counts: it is not from `stat record`", report->input);
		status = CLI_FAILED;
	}
	return status;
}

static int read_all(struct report *report)
{
	struct tally_error error;

	if (cli_data_open(report->input, report->max_expand, &report->data, &error))
		return cli_say_error("stat", &error);
	free(report->output.title);
	report->output.title = title_of(report->data);
	return read_rounds(report);
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

static void release(struct report *report)
{
	tally_stat_free(report->stat);
	for (size_t i = 0; i < report->event_count; i++)
		free(report->units[i]);
	free(report->units);
	free(report->events);
	free(report->threads);
	free(report->cpus);
	free(report->places);
	free(report->counts);
}

int stat_report(int argc, char **argv)
{
	struct report report = {.ask = {.repeat = 1, .big_num = true}};
	int status = parse_and_report(&report, argc, argv);

	release(&report);
	tally_data_close(report.data);
	return status;
}

bool stat_report_knows(struct tally_data *data)
{
	struct tally_record record;
	bool known = false;

	/* `stat record` writes the configuration before all records of the kernel. */
	while (!known && tally_data_next_record(data, &record, NULL) > 0) {
		if (record.type < PERF_RECORD_HEADER_ATTR)
			break;
		known = record.type == PERF_RECORD_STAT_CONFIG;
	}
	tally_data_rewind(data);
	return known;
}

int stat_report_list(struct tally_data *data, const char *input)
{
	struct report report = {.input = input, .data = data, .listed = true};
	int status = read_rounds(&report);

	release(&report);
	return status;
}
