/* The events of metrics in groups, and the list of all.
 *
 * Values that are divided by each other should be counted at the same time, so a metric's events
 * are one weak group; a metric whose events are all in an existing group uses that one. Larger
 * metrics come first, so that there are fewer groups. As in tools/perf/util/metricgroup.c of Linux
 * 6.1. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/buf.h"
#include "base/table.h"
#include "metric/metric_inner.h"
#include "event/pmu.h"

/* --- which events are together --- */

static bool is_tool(const struct tally_metrics *set, size_t event)
{
	return set->events[event].tool;
}

static size_t event_count(const struct tally_metrics *set, const struct metric *metric)
{
	size_t count = 0;

	for (size_t i = 0; i < metric->event_count; i++)
		count += !is_tool(set, metric->events[i]);
	return count;
}

static int64_t find_counter(const struct tally_metrics *set, const struct metric_group *group,
			    size_t event)
{
	for (size_t i = group->first; i < group->first + group->count; i++)
		if (set->counters[i].event == event)
			return (int64_t)i;
	return -1;
}

static int add_counter(struct tally_metrics *set, struct metric_group *group, size_t event)
{
	if (!array_next(&set->counters, &set->counter_room, set->counter_count, 64,
			sizeof(*set->counters)))
		return -ENOMEM;
	set->counters[set->counter_count++] = (struct metric_counter){.event = event};
	group->count++;
	return 0;
}

static int add_group(struct tally_metrics *set, const struct metric_group *group)
{
	if (!group->count)
		return 0;
	if (!array_next(&set->groups, &set->group_room, set->group_count, 16, sizeof(*set->groups)))
		return -ENOMEM;
	set->groups[set->group_count++] = *group;
	return 0;
}

/* Adds those of the metric's events that the group does not have. */
static int add_events(struct tally_metrics *set, struct metric_group *group,
		      const struct metric *metric, bool tools)
{
	for (size_t i = 0; i < metric->event_count; i++) {
		size_t event = metric->events[i];

		if (is_tool(set, event) == tools && find_counter(set, group, event) < 0 &&
		    add_counter(set, group, event))
			return -ENOMEM;
	}
	return 0;
}

static bool has_all(const struct tally_metrics *set, const struct metric_group *group,
		    const struct metric *metric)
{
	for (size_t i = 0; i < metric->event_count; i++)
		if (!is_tool(set, metric->events[i]) &&
		    find_counter(set, group, metric->events[i]) < 0)
			return false;
	return true;
}

/* Finds the metric's counters in its group, those of the tool in the last one. */
static void take_counters(const struct tally_metrics *set, const struct metric_group *group,
			  struct metric *metric, bool tools)
{
	for (size_t i = 0; i < metric->event_count; i++)
		if (is_tool(set, metric->events[i]) == tools)
			metric->counters[i] = (size_t)find_counter(set, group, metric->events[i]);
}

/* Events of all metrics that are in no group, each once. */
static int group_alone(struct tally_metrics *set)
{
	struct metric_group group = {.first = set->counter_count, .alone = true};

	for (size_t i = 0; i < set->count; i++)
		if (set->metrics[i].alone && set->metrics[i].event_count &&
		    add_events(set, &group, &set->metrics[i], false))
			return -ENOMEM;
	for (size_t i = 0; i < set->count; i++)
		if (set->metrics[i].alone)
			take_counters(set, &group, &set->metrics[i], false);
	return add_group(set, &group);
}

static int group_tools(struct tally_metrics *set)
{
	struct metric_group group = {.first = set->counter_count, .alone = true};

	for (size_t i = 0; i < set->count; i++)
		if (add_events(set, &group, &set->metrics[i], true))
			return -ENOMEM;
	for (size_t i = 0; i < set->count; i++)
		take_counters(set, &group, &set->metrics[i], true);
	return add_group(set, &group);
}

/* The events of Intel's topdown metrics need the event `slots` as their leader: perf-topdown docs,
 * tools/perf/Documentation/topdown.txt. */
static int rank(const struct tally_metrics *set, const struct metric_counter *counter)
{
	const char *name = set->events[counter->event].text, *slash = strchr(name, '/');

	name = slash ? slash + 1 : name;
	if (!strncasecmp(name, "slots", 5) && (!name[5] || strchr("/:,", name[5])))
		return 0;
	return strncasecmp(name, "topdown-", 8) ? 2 : 1;
}

static void sort_topdown(struct tally_metrics *set, const struct metric_group *group)
{
	struct metric_counter *counters = &set->counters[group->first];

	for (size_t i = 1; i < group->count; i++)
		for (size_t j = i; j && rank(set, &counters[j]) < rank(set, &counters[j - 1]);
		     j--) {
			struct metric_counter other = counters[j];

			counters[j] = counters[j - 1];
			counters[j - 1] = other;
		}
}

static int group_metric(struct tally_metrics *set, struct metric *metric)
{
	struct metric_group group = {.first = set->counter_count, .alone = metric->alone};
	int result;

	for (size_t i = 0; i < set->group_count && !set->no_merge; i++)
		if (!set->groups[i].alone && has_all(set, &set->groups[i], metric)) {
			take_counters(set, &set->groups[i], metric, false);
			return 0;
		}
	result = add_events(set, &group, metric, false);
	if (result)
		return result;
	if (!group.alone)
		sort_topdown(set, &group);
	take_counters(set, &group, metric, false);
	return add_group(set, &group);
}

/* Largest first; equally large ones in the order in which they were asked for. */
static int group_all(struct tally_metrics *set)
{
	size_t most = 0;
	int result = 0;

	if (!set->no_merge)
		result = group_alone(set);
	for (size_t i = 0; i < set->count; i++)
		if (event_count(set, &set->metrics[i]) > most)
			most = event_count(set, &set->metrics[i]);
	for (size_t size = most; size && !result; size--)
		for (size_t i = 0; i < set->count && !result; i++)
			if (event_count(set, &set->metrics[i]) == size &&
			    (set->no_merge || !set->metrics[i].alone))
				result = group_metric(set, &set->metrics[i]);
	return result ? result : group_tools(set);
}

/* --- as text --- */

static void write_event(struct tally_buf *to, const struct metric_event *event)
{
	if (event->pmu && !strchr(event->text, '/')) {
		size_t name = strcspn(event->text, ":");

		tally_buf_printf(to, "%s/%.*s/%s", event->pmu, (int)name, event->text,
				 event->text + name + (event->text[name] != '\0'));
	} else {
		tally_buf_text(to, event->text);
	}
}

static int write_text(struct tally_metrics *set)
{
	struct tally_buf buf = {0};

	for (size_t i = 0; i < set->group_count; i++) {
		const struct metric_group *group = &set->groups[i];

		tally_buf_text(&buf, i ? "," : "");
		tally_buf_text(&buf, group->alone ? "" : "{");
		for (size_t j = 0; j < group->count; j++) {
			tally_buf_text(&buf, j ? "," : "");
			write_event(&buf, &set->events[set->counters[group->first + j].event]);
		}
		tally_buf_text(&buf, group->alone ? "" : "}:W");
	}
	set->text = tally_arena_strndup(&set->arena, tally_buf_str(&buf), buf.size);
	tally_buf_done(&buf);
	return set->text ? 0 : -ENOMEM;
}

/* --- the list --- */

/* The PMU that limits a group; empty for the CPU's own events, and for software events, which may
 * be in any group. Source: perf_event_open() in kernel/events/core.c; msr and the probes are
 * software events there. */
static const char *unit_of(const struct tally_metrics *set, const struct tally_event *event)
{
	static const char *const software[] = {"msr", "kprobe", "uprobe"};
	struct event_word word = {.text = event->pmu};
	const struct event_pmu *pmu;

	if (!event->pmu)
		return NULL;
	for (size_t i = 0; i < sizeof(software) / sizeof(software[0]); i++)
		if (!strcmp(event->pmu, software[i]))
			return NULL;
	word.length = strlen(event->pmu);
	pmu = tally_pmu_find(set->options.context, &word);
	return pmu && pmu->core && !pmu->hybrid ? NULL : event->pmu;
}

static bool same_unit(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static int add_place(struct metric_counter *counter, size_t place)
{
	size_t *at = reallocarray(counter->at, counter->count + 1, sizeof(*at));

	if (!at)
		return -ENOMEM;
	counter->at = at;
	counter->at[counter->count++] = place;
	return 0;
}

static int list_event(struct tally_metrics *set, struct metric_counter *counter,
		      const struct tally_event *from, size_t leader, bool weak)
{
	struct tally_event *event = &set->list.events[set->list.count];
	char *name = strdup(set->events[counter->event].text);

	if (!name || tally_event_copy(event, from)) {
		free(name);
		return -ENOMEM;
	}
	free(event->name);
	event->name = name;
	event->leader = (uint32_t)leader;
	event->weak = weak;
	return add_place(counter, set->list.count++);
}

struct listed {
	const struct tally_event *event;
	struct metric_counter *counter;
	const char *unit;
	bool done;
};

/* Copies of the group's events, one PMU's after another's. */
static int list_group(struct tally_metrics *set, const struct metric_group *group,
		      struct listed *all, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t leader = set->list.count;

		for (size_t j = i; j < count; j++) {
			bool mine =
			    !all[j].done &&
			    (j == i || (!group->alone && same_unit(all[i].unit, all[j].unit)));

			if (!mine)
				continue;
			all[j].done = true;
			if (list_event(set, all[j].counter, all[j].event, leader, !group->alone))
				return -ENOMEM;
		}
	}
	return 0;
}

static size_t count_events(const struct tally_metrics *set, const struct metric_group *group)
{
	size_t count = 0;

	for (size_t i = 0; i < group->count; i++)
		count += set->events[set->counters[group->first + i].event].list.count;
	return count;
}

static int list_groups(struct tally_metrics *set)
{
	size_t total = 0, most = 0;
	struct listed *all;
	int result = 0;

	for (size_t i = 0; i < set->group_count; i++) {
		size_t count = count_events(set, &set->groups[i]);

		total += count;
		most = count > most ? count : most;
	}
	set->list.events = calloc(total + 1, sizeof(*set->list.events));
	all = calloc(most + 1, sizeof(*all));
	if (!set->list.events || !all)
		result = -ENOMEM;
	for (size_t i = 0; i < set->group_count && !result; i++) {
		const struct metric_group *group = &set->groups[i];
		size_t count = 0;

		for (size_t j = 0; j < group->count; j++) {
			struct metric_counter *counter = &set->counters[group->first + j];
			const struct tally_event_list *list = &set->events[counter->event].list;

			for (size_t k = 0; k < list->count; k++)
				all[count++] =
				    (struct listed){.event = &list->events[k],
						    .counter = counter,
						    .unit = unit_of(set, &list->events[k])};
		}
		result = list_group(set, group, all, count);
	}
	free(all);
	return result;
}

int tally_metrics_group(struct tally_metrics *set)
{
	int result = 0;

	for (size_t i = 0; i < set->count && !result; i++) {
		struct metric *metric = &set->metrics[i];

		metric->counters = calloc(metric->event_count + 1, sizeof(*metric->counters));
		if (!metric->counters)
			result = -ENOMEM;
	}
	if (!result)
		result = group_all(set);
	if (!result)
		result = write_text(set);
	return result ? result : list_groups(set);
}
