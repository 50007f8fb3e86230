/* A run's counters, and the model that they fill. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include <tally/topology.h>
#include "array.h"
#include "command.h"
#include "say.h"
#include "stat_command.h"

static int no_memory(void)
{
	cli_say("stat", "out of memory");
	return CLI_FAILED;
}

/* The number of events that are printed. */
static size_t printed_events(const struct stat_ask *ask)
{
	return ask->null_run ? 0 : ask->events.count;
}

/* --- cgroups: -G names one for each event (or for all), --for-each-cgroup counts all in each ---
 */

static int choose_cgroups(struct stat_count *count, const struct stat_ask *ask)
{
	const struct cli_list *list = ask->each_cgroup.count ? &ask->each_cgroup : &ask->cgroups;

	count->cgroups = calloc(list->count + 1, sizeof(*count->cgroups));
	if (!count->cgroups)
		return no_memory();
	for (size_t i = 0; i < list->count; i++) {
		bool there = false;

		for (size_t j = 0; j < count->cgroup_count; j++)
			there |= !strcmp(count->cgroups[j], list->items[i]);
		if (!there)
			count->cgroups[count->cgroup_count++] = list->items[i];
	}
	return CLI_OK;
}

/* Whether the event is counted in the cgroup. */
static bool in_cgroup(const struct stat_count *count, size_t event, size_t cgroup)
{
	const struct cli_list *list = &count->ask->cgroups;

	if (!list->count)
		return true;
	return !strcmp(list->items[list->count == 1 ? 0 : event], count->cgroups[cgroup]);
}

/* --- the model --- */

static void read_comm(pid_t tid, char to[16])
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	file = fopen(path, "re");
	if (!file || !fgets(to, 16, file))
		*to = 0;
	to[strcspn(to, "\n")] = 0;
	if (file)
		fclose(file);
}

static bool needs_topology(const struct stat_ask *ask)
{
	for (size_t i = 0; i < ask->events.count; i++)
		if (ask->events.events[i].per_pkg || ask->events.events[i].terms.percore)
			return true;
	return ask->by > TALLY_STAT_THREAD;
}

static void fill_place(struct stat_count *count, size_t index, bool topology)
{
	struct tally_counters_place from = {.size = sizeof(from)};
	struct tally_stat_place *to = &count->places[index];
	struct tally_topology_cpu cpu = {sizeof(cpu), -1, -1, -1, -1, -1, -1};

	tally_counters_place(count->set, index, &from);
	if (from.cpu >= 0 && topology)
		tally_topology_read(NULL, (uint32_t)from.cpu, &cpu);
	*to = (struct tally_stat_place){
	    .cpu = from.cpu,
	    .tid = from.tid,
	    .socket = cpu.socket,
	    .die = cpu.die,
	    .cluster = cpu.cluster,
	    .cache = cpu.cache,
	    .core = cpu.core,
	    .node = cpu.node,
	};
	if (count->ask->by == TALLY_STAT_THREAD && from.tid > 0) {
		read_comm(from.tid, count->comms[index]);
		to->comm = count->comms[index];
	}
}

/* Distinguishes the events of several PMUs; the names are perf's. */
static char *name_by_pmu(const char *name, const struct tally_event *event)
{
	const char *terms = strchr(name, '/'), *pmu = event->pmu;
	char *made = NULL;
	int length;

	if (!strncmp(name, pmu, strlen(pmu)))
		return NULL;
	if (terms)
		length = asprintf(&made, "%s%s", pmu, terms);
	else
		length = asprintf(&made, stat_is_hybrid(event) ? "%2$s/%1$s/" : "%1$s [%2$s]", name,
				  pmu);
	return length < 0 ? NULL : made;
}

/* Kinds of core have their own rows unless --hybrid-merge is given: their counts mean different
 * things. */
static bool stands_alone(const struct stat_ask *ask, const struct tally_event *event)
{
	return event->pmu && (ask->no_merge || (stat_is_hybrid(event) && !ask->hybrid_merge));
}

static bool is_opened(const struct stat_count *count, size_t event)
{
	struct tally_counters_event opened = {.size = sizeof(opened)};

	return !tally_counters_event(count->set, event, &opened) && opened.opened;
}

static void fill_event(struct stat_count *count, size_t index, size_t event, const char *cgroup)
{
	const struct tally_event *from = &count->ask->events.events[event];
	struct tally_counters_event opened = {.size = sizeof(opened)};

	tally_counters_event(count->set, event, &opened);
	if (stands_alone(count->ask, from))
		count->names[index] = name_by_pmu(opened.name, from);
	else
		count->names[index] = strdup(opened.name);
	count->events[index] = (struct tally_stat_event){
	    .attr = opened.attr,
	    .name = count->names[index] ? count->names[index] : from->name,
	    .unit = from->unit,
	    .pmu = from->pmu,
	    .cgroup = cgroup,
	    .scale = from->unit || from->scale < 1 || from->scale > 1 ? from->scale : 0,
	    .per_pkg = from->per_pkg,
	    .snapshot = from->snapshot,
	    .tool = from->tool != TALLY_TOOL_NONE,
	    .percore = from->terms.percore,
	    .why = count->whys[index].text,
	};
}

static int make_model(struct stat_count *count)
{
	const struct stat_ask *ask = count->ask;
	size_t events = printed_events(ask),
	       cgroups = count->cgroup_count ? count->cgroup_count : 1;
	bool topology = needs_topology(ask);
	struct tally_stat_options options = {
	    .size = sizeof(options),
	    .by = ask->by,
	    .unscaled = ask->no_scale,
	    .merge = !ask->no_merge,
	    .percore_each = ask->percore_each,
	};
	struct tally_error error;

	count->place_count = tally_counters_place_count(count->set) / cgroups;
	count->events = calloc(events * cgroups + 1, sizeof(*count->events));
	count->names = calloc(events * cgroups + 1, sizeof(*count->names));
	count->whys = calloc(events * cgroups + 1, sizeof(*count->whys));
	count->places = calloc(count->place_count + 1, sizeof(*count->places));
	count->comms = calloc(count->place_count + 1, sizeof(*count->comms));
	count->read = calloc(events * count->place_count * cgroups + 1, sizeof(*count->read));
	count->counts = calloc(events * count->place_count * cgroups + 1, sizeof(*count->counts));
	if (!count->events || !count->names || !count->whys || !count->places || !count->comms ||
	    !count->read || !count->counts)
		return no_memory();
	/* The places of the first cgroup are the CPUs, and the others have the same. */
	for (size_t i = 0; i < count->place_count; i++)
		fill_place(count, i, topology);
	for (size_t cgroup = 0; cgroup < cgroups; cgroup++)
		for (size_t event = 0; event < events; event++)
			if (!count->cgroup_count || in_cgroup(count, event, cgroup))
				fill_event(count, count->event_count++, event,
					   count->cgroup_count ? count->cgroups[cgroup] : NULL);
	options.events = count->events;
	options.event_count = count->event_count;
	options.places = count->places;
	options.place_count = count->place_count;
	if (stat_metrics_put(count, &options))
		return CLI_FAILED;
	if (tally_stat_new(&options, &count->stat, &error))
		return cli_say_error("stat", &error);
	return CLI_OK;
}

/* --- runs --- */

#define TRIES 20 /* to find a list of processes of which none ends before it is opened */

/* All processes; the old list is freed.  NULL: out of memory, or no procfs. */
static pid_t *list_processes(pid_t *old, size_t *ret_count)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	size_t count = 0, room = 0;

	while (folder && (entry = readdir(folder))) {
		uint64_t number;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    tally_text_u64(entry->d_name, &number) || number > INT_MAX)
			continue;
		if (!cli_array_next(&old, &room, count, sizeof(*old)))
			break;
		old[count++] = (pid_t)number;
	}
	if (folder)
		closedir(folder);
	*ret_count = count;
	return old;
}

/* When no event is permitted, prints why once instead of for each event. 0, or an exit status. */
static int check_permission(const struct stat_count *count)
{
	size_t events = printed_events(count->ask), places = tally_counters_place_count(count->set);

	/* Time that we measure ourselves does not count as an event that is permitted. */
	for (size_t i = 0; i < events; i++)
		if (count->ask->events.events[i].tool == TALLY_TOOL_NONE && is_opened(count, i))
			return CLI_OK;
	for (size_t i = 0; i < events * places; i++) {
		struct tally_error why;
		int code = tally_counters_why(count->set, i / places, i % places, &why);

		if (code == -EACCES || code == -EPERM) {
			cli_say_error("stat", &why);
			return CLI_NOT_PERMITTED;
		}
	}
	return CLI_OK;
}

int stat_count_open(struct stat_count *count, const struct stat_ask *ask)
{
	struct tally_counters_options options = {
	    .size = sizeof(options),
	    .events = &ask->events,
	    .command = ask->command,
	    .pids = ask->pid_numbers,
	    .pid_count = ask->pid_count,
	    .parents = ask->parent_numbers,
	    .parent_count = ask->parents.count,
	    .tids = ask->tid_numbers,
	    .tid_count = ask->tids.count,
	    .system_wide = ask->system_wide && !ask->every_thread,
	    .cpus = ask->cpu_numbers,
	    .cpu_count = ask->cpu_count,
	    .no_inherit = ask->no_inherit,
	    /* We enable the counters that exec does not enable. */
	    .delayed = ask->delay_ms != 0 || stat_has_tasks(ask),
	    .user_only = true,
	};
	pid_t *every = NULL;
	struct tally_error error;
	int status = CLI_OK, result = 0;

	count->ask = ask;
	if (!count->cgroups)
		status = choose_cgroups(count, ask);
	if (status)
		return status;
	options.cgroups = count->cgroups;
	options.cgroup_count = count->cgroup_count;
	/* Processes start and end while they are listed. */
	for (unsigned i = 0; i < TRIES && (!i || (ask->every_thread && result == -ESRCH)); i++) {
		if (ask->every_thread)
			every = list_processes(every, &options.pid_count);
		if (ask->every_thread)
			options.pids = every;
		result = tally_counters_open(&options, &count->set, &error);
	}
	free(every);
	if (result) {
		cli_say_error("stat", &error);
		return ask->command ? CLI_OWN_FAILURE : CLI_FAILED;
	}
	status = check_permission(count);
	if (status)
		return status;
	for (size_t i = 0; i < ask->filter_count; i++)
		if (tally_counters_set_filter(count->set, ask->filters[i].event,
					      ask->filters[i].text, &error)) {
			cli_say_error("stat", &error);
			return ask->command ? CLI_OWN_FAILURE : CLI_FAILED;
		}
	if (!count->stat)
		status = make_model(count);
	else if (tally_counters_place_count(count->set) !=
		 count->place_count * (count->cgroup_count ? count->cgroup_count : 1)) {
		cli_say("stat", "threads came or went between two runs, so that they cannot be "
				"added up; count them in one run");
		status = CLI_FAILED;
	}
	if (!status)
		tally_stat_begin(count->stat);
	return status;
}

void stat_count_close(struct stat_count *count)
{
	tally_counters_close(count->set);
	count->set = NULL;
}

void stat_count_done(struct stat_count *count)
{
	stat_count_close(count);
	tally_stat_free(count->stat);
	for (size_t i = 0; i < count->event_count; i++)
		free(count->names[i]);
	free(count->names);
	free(count->events);
	free(count->places);
	free(count->whys);
	free(count->comms);
	free(count->read);
	free(count->counts);
	free(count->cgroups);
	free(count->metrics);
	*count = (struct stat_count){0};
}

void stat_count_read(struct stat_count *count)
{
	size_t events = printed_events(count->ask), places = count->place_count;
	size_t cgroups = count->cgroup_count ? count->cgroup_count : 1, to = 0;

	/* The set of --null has one event, too. */
	if (!events)
		return;
	/* A count that could not be read has a mark of its own. */
	tally_counters_read(count->set, count->read);
	for (size_t cgroup = 0; cgroup < cgroups; cgroup++)
		for (size_t event = 0; event < events; event++) {
			if (count->cgroup_count && !in_cgroup(count, event, cgroup))
				continue;
			memcpy(&count->counts[to * places],
			       &count->read[(event * cgroups + cgroup) * places],
			       places * sizeof(*count->counts));
			to++;
		}
}

/* The event and place of the set for an event of the model. */
static void find_in_set(const struct stat_count *count, size_t index, size_t *ret_event,
			size_t *ret_place)
{
	size_t cgroups = count->cgroup_count ? count->cgroup_count : 1, at = 0;

	for (size_t cgroup = 0; cgroup < cgroups; cgroup++)
		for (size_t event = 0; event < printed_events(count->ask); event++) {
			if (count->cgroup_count && !in_cgroup(count, event, cgroup))
				continue;
			if (at++ != index)
				continue;
			*ret_event = event;
			*ret_place = cgroup * count->place_count;
			return;
		}
}

static bool is_hardware(const struct tally_stat_event *event)
{
	return event->attr.type == PERF_TYPE_HARDWARE || event->attr.type == PERF_TYPE_HW_CACHE;
}

/* The first place where the count of an event is missing; SIZE_MAX: none. */
static size_t uncounted_place(const struct stat_count *count, size_t event)
{
	for (size_t i = 0; i < count->place_count; i++) {
		enum tally_count_quality quality =
		    count->counts[event * count->place_count + i].quality;

		if (quality > TALLY_COUNT_GONE && quality < TALLY_COUNT_NEVER_RAN)
			return i;
	}
	return SIZE_MAX;
}

/* The reason for one generic event holds for all of them. */
static void say_hardware(const struct stat_count *count, struct tally_error *why)
{
	bool any = false;

	for (size_t i = 0; i < count->event_count; i++)
		any |= is_hardware(&count->events[i]) && uncounted_place(count, i) == SIZE_MAX;
	snprintf(why->text, sizeof(why->text), "%s",
		 any ? "this CPU's counters do not have this event"
		     : "no hardware counters on this machine, as in most virtual ones");
}

static bool is_alone(const struct tally_event_list *list, size_t event)
{
	for (size_t i = 0; i < list->count; i++)
		if (i != event && list->events[i].leader == list->events[event].leader)
			return false;
	return true;
}

void stat_count_explain(struct stat_count *count)
{
	const struct tally_error *hardware = NULL;

	/* The model's copies of the events point to these texts, which are empty until now. */
	for (size_t i = 0; i < count->event_count; i++) {
		size_t event = 0, place = 0, where = uncounted_place(count, i);

		if (where == SIZE_MAX)
			continue;
		if (hardware && is_hardware(&count->events[i])) {
			count->whys[i] = *hardware;
			continue;
		}
		find_in_set(count, i, &event, &place);
		/* For generic events without a group there is only one possible reason: no need to
		 * ask. */
		if (is_hardware(&count->events[i]) && is_alone(&count->ask->events, event) &&
		    count->counts[i * count->place_count + where].quality ==
			TALLY_COUNT_NOT_SUPPORTED)
			count->whys[i].code = -ENOENT;
		else
			tally_counters_why(count->set, event, place + where, &count->whys[i]);
		if (is_hardware(&count->events[i]) && count->whys[i].code == -ENOENT) {
			say_hardware(count, &count->whys[i]);
			hardware = &count->whys[i];
		}
	}
}

static bool is_unpermitted(const struct stat_count *count, size_t event)
{
	int code = count->whys[event].code;

	return *count->whys[event].text && (code == -EACCES || code == -EPERM);
}

void stat_count_say_unpermitted(const struct stat_count *count)
{
	for (size_t i = 0; i < count->event_count; i++) {
		const char *why = count->whys[i].text;
		char others[32] = "";
		size_t more = 0;
		bool first = is_unpermitted(count, i);

		for (size_t j = 0; j < count->event_count && first; j++) {
			bool same =
			    j != i && is_unpermitted(count, j) && !strcmp(count->whys[j].text, why);

			first = !same || j > i;
			more += same;
		}
		if (!first)
			continue;
		if (more)
			snprintf(others, sizeof(others), " and %zu more", more);
		cli_say("stat", "not permitted: %s%s: %s", count->events[i].name, others, why);
	}
}

/* Threads of other users have no row. */
void stat_count_say_threads(const struct stat_count *count)
{
	size_t hidden = 0, event = 0;

	if (!count->event_count)
		return;
	for (size_t i = 0; i < count->event_count * count->place_count; i++)
		if (count->counts[i].quality == TALLY_COUNT_NOT_PERMITTED) {
			event = i / count->place_count;
			break;
		}
	for (size_t i = 0; i < count->place_count; i++)
		hidden += count->counts[event * count->place_count + i].quality ==
			  TALLY_COUNT_NOT_PERMITTED;
	if (hidden)
		cli_say("stat", "%zu of %zu threads were not permitted and have no row: %s", hidden,
			count->place_count, count->whys[event].text);
}
