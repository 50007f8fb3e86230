/* What `tally stat` counts by default: the same as perf. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <tally/probe.h>
#include <unistd.h>
#include "command.h"
#include "say.h"
#include "stat_command.h"

static const char *const details[] = {
    "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
    "L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses",
    "L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

static int add(struct stat_ask *ask, const char *text)
{
	const struct tally_event_options options = {.size = sizeof(options), .command = "stat"};
	struct tally_error error;
	size_t before = ask->events.count;
	int result = tally_event_list_append(&ask->events, text, &options, &error);

	if (!result && stat_events_of_core(ask, before))
		snprintf(error.text, sizeof(error.text), "out of memory");
	else if (!result)
		return CLI_OK;
	cli_say("stat", "%s: %s", text, error.text);
	return CLI_FAILED;
}

static bool pmu_has(const char *pmu, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/%s", pmu, name);
	return !access(path, F_OK);
}

static bool has_event(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "events/%s", name);
	return pmu_has("cpu", path);
}

/* All in one string: the machine's PMUs are read only once. */
static int add_usual(struct stat_ask *ask)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "%s,context-switches,cpu-migrations,page-faults,cycles%s%s,instructions,branches,"
		 "branch-misses",
		 stat_has_cpus(ask) ? "cpu-clock" : "task-clock",
		 has_event("stalled-cycles-frontend") ? ",stalled-cycles-frontend" : "",
		 has_event("stalled-cycles-backend") ? ",stalled-cycles-backend" : "");
	return add(ask, text);
}

static int add_transaction(struct stat_ask *ask)
{
	if (!has_event("tx-start") || !has_event("cycles-t")) {
		cli_say("stat", "-T: this CPU has no events of transactions (tx-start, cycles-t)");
		return CLI_FAILED;
	}
	if (has_event("cycles-ct") && has_event("el-start"))
		return add(ask, "task-clock,{instructions,cycles,cpu/cycles-t/,cpu/tx-start/,"
				"cpu/el-start/,cpu/cycles-ct/}");
	return add(ask, "task-clock,{instructions,cycles,cpu/cycles-t/,cpu/tx-start/}");
}

/* --topdown: where the slots of the pipeline went.  CPUs with a counter of slots have the shares as
 * events; older ones have events for the parts, which count for a whole core. */

static const char *const slot_shares[] = {"slots",
					  "topdown-retiring",
					  "topdown-bad-spec",
					  "topdown-fe-bound",
					  "topdown-be-bound",
					  "topdown-heavy-ops",
					  "topdown-br-mispredict",
					  "topdown-fetch-lat",
					  "topdown-mem-bound"};
static const char *const slot_parts[] = {"topdown-total-slots", "topdown-slots-retired",
					 "topdown-recovery-bubbles", "topdown-fetch-bubbles",
					 "topdown-slots-issued"};
#define LEVEL1 5 /* of slot_shares */

/* The PMU to use: of several kinds of core the chosen one, else the large one. */
static const char *topdown_pmu(const struct stat_ask *ask)
{
	return ask->core ? ask->core : pmu_has("cpu_core", "cpus") ? "cpu_core" : "cpu";
}

static bool topdown_has(const char *pmu, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "events/%s", name);
	return pmu_has(pmu, path);
}

/* Adds those of the events that the PMU has, as a group. */
static int add_slots(struct stat_ask *ask, const char *pmu, const char *const *names, size_t count)
{
	bool one_kind = !strcmp(pmu, "cpu");
	char text[1024];
	size_t length = 0;

	for (size_t i = 0; i < count; i++)
		if (topdown_has(pmu, names[i]))
			length += (size_t)snprintf(text + length, sizeof(text) - length,
						   one_kind ? "%1$c%2$s" : "%1$c%3$s/%2$s/",
						   length ? ',' : '{', names[i], pmu);
	snprintf(text + length, sizeof(text) - length, "}");
	return add(ask, text);
}

static int add_topdown(struct stat_ask *ask)
{
	const char *pmu = topdown_pmu(ask);
	uint64_t levels = topdown_has(pmu, "topdown-heavy-ops") ? 2 : 1;

	ask->metric_only = !ask->no_metric_only;
	if (topdown_has(pmu, "slots") && topdown_has(pmu, "topdown-retiring")) {
		if (ask->topdown_level > levels) {
			cli_say("stat", "--td-level: this CPU has %d", (int)levels);
			return CLI_USAGE;
		}
		return add_slots(ask, pmu, slot_shares,
				 levels == 2 && ask->topdown_level != 1
				     ? sizeof(slot_shares) / sizeof(*slot_shares)
				     : LEVEL1);
	}
	if (!topdown_has(pmu, "topdown-total-slots")) {
		cli_say("stat", "--topdown: this CPU has no events for it; if its tables have the "
				"metric, use -M TopdownL1");
		return CLI_FAILED;
	}
	if (!stat_has_cpus(ask) || (ask->by != TALLY_STAT_GLOBAL && ask->by != TALLY_STAT_CORE))
		return cli_usage_error(ask->usage, "--topdown counts whole cores on this CPU: give "
						   "-a, and --per-core as the only way to add up");
	ask->by = TALLY_STAT_CORE;
	return add_slots(ask, pmu, slot_parts, sizeof(slot_parts) / sizeof(*slot_parts));
}

/* All events of one group, led by the first. */
static void make_group(struct tally_event_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		list->events[i].leader = 0;
}

bool stat_is_hybrid(const struct tally_event *event)
{
	const struct tally_attr *attr = &event->attr;
	bool generic = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;

	return event->pmu &&
	       (!strncmp(event->pmu, "cpu_", 4) || (generic && attr->config >> 32 != 0));
}

int stat_events_of_core(struct stat_ask *ask, size_t first)
{
	struct tally_event_list *list = &ask->events, dropped = {0};
	uint32_t *places;
	size_t kept = first;

	if (!ask->core || first == list->count)
		return 0;
	dropped.events = calloc(list->count - first, sizeof(*dropped.events));
	places = calloc(list->count, sizeof(*places));
	if (!dropped.events || !places) {
		free(dropped.events);
		free(places);
		return -ENOMEM;
	}
	for (size_t i = first; i < list->count; i++) {
		struct tally_event *event = &list->events[i];

		if (stat_is_hybrid(event) && strcmp(event->pmu, ask->core) != 0) {
			dropped.events[dropped.count++] = *event;
			continue;
		}
		/* A group has events of one kind of core. */
		places[i] = (uint32_t)kept;
		event->leader = event->leader == i ? (uint32_t)kept : places[event->leader];
		list->events[kept++] = *event;
	}
	list->count = kept;
	free(places);
	tally_event_list_done(&dropped);
	return 0;
}

int stat_events_complete(struct stat_ask *ask)
{
	int status = CLI_OK;

	if (ask->null_run) {
		/* A set of counters needs at least one event: this one never counts and is not
		 * printed. */
		tally_event_list_done(&ask->events);
		ask->events = (struct tally_event_list){0};
		return add(ask, "dummy");
	}
	if (ask->transaction)
		status = add_transaction(ask);
	if (!status && ask->topdown)
		status = add_topdown(ask);
	if (!status && ask->smi_cost)
		status = stat_smi_add(ask);
	if (!status && !ask->events.count)
		status = add_usual(ask);
	for (size_t i = 0; i < ask->detailed && i < 3 && !status; i++)
		status = add(ask, details[i]);
	if (ask->group)
		make_group(&ask->events);
	for (size_t i = 0; i < ask->events.count && (ask->all_user || ask->all_kernel); i++) {
		ask->events.events[i].attr.exclude_kernel = ask->all_user;
		ask->events.events[i].attr.exclude_user = ask->all_kernel;
		ask->events.events[i].privilege_given = true;
	}
	return status;
}

/* Filters refer to events by number, and copies change the numbers of later events. */
static void follow(struct stat_ask *ask, const char *name, struct stat_filter *filter)
{
	for (size_t i = 0; i < ask->events.count; i++)
		if (ask->events.events[i].name == name) /* the same text, not an equal one */
			filter->event = i;
}

int stat_events_place(struct stat_ask *ask)
{
	const struct tally_probe_options where = {
	    .size = sizeof(where),
	    .command = ask->command,
	    .pids = ask->pid_count ? ask->pid_numbers : ask->parent_numbers,
	    .pid_count = ask->pid_count ? ask->pid_count : ask->parents.count,
	    .system_wide = ask->system_wide,
	};
	const char **names = calloc(ask->filter_count + 1, sizeof(*names));
	struct tally_error error;
	int result;

	if (!names) {
		cli_say("stat", "out of memory");
		return CLI_FAILED;
	}
	for (size_t i = 0; i < ask->filter_count; i++)
		names[i] = ask->events.events[ask->filters[i].event].name;
	result = tally_probe_resolve(&ask->events, &where, &error);
	for (size_t i = 0; i < ask->filter_count; i++)
		follow(ask, names[i], &ask->filters[i]);
	free(names);
	return result ? cli_say_error("stat", &error) : CLI_OK;
}
