/* Chosen metrics: made, freed, and their values. */
#include "metric/metric_inner.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "event/pmu.h"

/* --- which are grouped --- */

static bool threshold_asks(const struct metric *metric)
{
	return metric->use_count > metric->root + 1;
}

/* Constraints: MetricConstraint of the tables; their meaning: tools/perf/util/metricgroup.c. */
static void apply_constraint(struct tally_metrics *set, struct metric *metric)
{
	const char *constraint = metric->entry->constraint ? metric->entry->constraint : "";
	bool watchdog =
	    !strcmp(constraint, "NO_NMI_WATCHDOG") || !strcmp(constraint, "NO_GROUP_EVENTS_NMI") ||
	    (!strcmp(constraint, "NO_GROUP_EVENTS_THRESHOLD_AND_NMI") && threshold_asks(metric));

	metric->alone |= set->no_group || !strcmp(constraint, "NO_GROUP_EVENTS");
	if (!strcmp(constraint, "NO_GROUP_EVENTS_SMT"))
		metric->alone |= tally_metric_machine_smt(&set->machine);
	if (watchdog && !metric->alone && tally_metric_machine_watchdog(&set->machine)) {
		metric->alone = true;
		metric->info.note = "its events are not counted together, as the NMI watchdog uses "
				    "a counter: echo 0 > /proc/sys/kernel/nmi_watchdog";
	}
}

/* A metric of a group that cannot be resolved stays in the list, with its note. */
static int resolve_all(struct tally_metrics *set, struct tally_error *error)
{
	struct tally_error own = {.text = "out of memory", .position = -1};
	size_t good = 0;

	for (size_t i = 0; i < set->count; i++) {
		struct metric *metric = &set->metrics[i];
		int result = tally_metrics_resolve(set, metric, &own);

		if (result == -ENOMEM || (result && metric->by_name))
			return tally_fail(error, result, -1, "%s", own.text);
		if (result) {
			metric->event_count = 0;
			metric->info.note =
			    tally_arena_strndup(&set->arena, own.text, strlen(own.text));
			if (!metric->info.note)
				return tally_fail(error, -ENOMEM, -1, "out of memory");
			metric->broken = true;
			continue;
		}
		apply_constraint(set, metric);
		good++;
	}
	if (!good)
		return tally_fail(error, -EINVAL, -1, "%s", own.text);
	return 0;
}

/* --- made and freed --- */

static int open_all(struct tally_metrics *set, const char *names,
		    const struct tally_metrics_options *options, struct tally_error *error)
{
	struct tally_event_context *context = options->context;
	int result = 0;

	if (!context) {
		result = tally_event_context_new(&set->options, &set->own);
		if (result)
			return tally_fail(error, result, -1, "%s", strerror(-result));
		set->options.context = context = set->own;
	}
	set->table = tally_context_table(context);
	if (!set->table)
		return tally_fail(error, context->table_result, context->table_error.position, "%s",
				  context->table_error.text);
	result = tally_metrics_choose(set, names, error);
	if (!result)
		result = resolve_all(set, error);
	if (!result && tally_metrics_group(set))
		result = tally_fail(error, -ENOMEM, -1, "out of memory");
	return result;
}

int tally_metrics_new(const char *names, const struct tally_metrics_options *options,
		      struct tally_metrics **ret, struct tally_error *error)
{
	struct tally_metrics_options known = {.size = sizeof(known)};
	struct tally_metrics *set;
	int result = tally_options_take(&known, sizeof(known), options);

	if (result)
		return tally_fail(error, result, -1, "unknown options");
	set = calloc(1, sizeof(*set));
	if (!set)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	set->machine = (struct metric_machine){
	    .sysfs = known.sysfs ? known.sysfs : "/sys",
	    .procfs = known.procfs ? known.procfs : "/proc",
	    .cpus = known.cpus,
	    .system_wide = known.system_wide,
	    .here = !known.sysfs,
	};
	set->options = (struct tally_event_options){
	    .size = sizeof(set->options),
	    .sysfs = known.sysfs,
	    .tracefs = known.tracefs,
	    .events = known.events,
	    .cpuid = known.cpuid,
	    .context = known.context,
	    .command = "stat",
	};
	set->no_group = known.no_group;
	set->no_merge = known.no_merge;
	set->no_threshold = known.no_threshold;
	result = open_all(set, names, &known, error);
	if (result) {
		tally_metrics_free(set);
		return result;
	}
	*ret = set;
	return 0;
}

static void metric_done(struct metric *metric)
{
	for (size_t i = 0; i < metric->use_count; i++) {
		tally_expression_free(metric->uses[i].expression);
		free(metric->uses[i].binds);
	}
	free(metric->uses);
	free(metric->events);
	free(metric->counters);
}

void tally_metrics_free(struct tally_metrics *metrics)
{
	if (!metrics)
		return;
	for (size_t i = 0; i < metrics->count; i++)
		metric_done(&metrics->metrics[i]);
	free(metrics->metrics);
	for (size_t i = 0; i < metrics->event_count; i++)
		tally_event_list_done(&metrics->events[i].list);
	free(metrics->events);
	for (size_t i = 0; i < metrics->counter_count; i++)
		free(metrics->counters[i].at);
	free(metrics->counters);
	free(metrics->groups);
	tally_event_list_done(&metrics->list);
	tally_strings_done(&metrics->keys);
	tally_event_context_free(metrics->own); /* last: the table's text is used above */
	tally_arena_done(&metrics->arena);
	free(metrics);
}

/* --- for callers --- */

const struct tally_metric_info *tally_metrics_at(const struct tally_metrics *metrics, size_t at)
{
	return at < metrics->count ? &metrics->metrics[at].info : NULL;
}

const char *tally_metrics_events(const struct tally_metrics *metrics)
{
	return metrics->text;
}

int tally_metrics_append(struct tally_metrics *metrics, struct tally_event_list *list)
{
	struct tally_event_list *own = &metrics->list;
	struct tally_event *events;

	if (metrics->appended)
		return -EALREADY;
	events = reallocarray(list->events, list->count + own->count + 1, sizeof(*events));
	if (!events)
		return -ENOMEM;
	list->events = events;
	metrics->first = list->count;
	for (size_t i = 0; i < own->count; i++) {
		own->events[i].leader += (uint32_t)list->count;
		list->events[list->count + i] = own->events[i];
	}
	list->count += own->count;
	free(own->events);
	*own = (struct tally_event_list){0};
	metrics->appended = true;
	return 0;
}

int64_t tally_metrics_event(const struct tally_metrics *metrics, size_t at, size_t n)
{
	const struct metric *metric = at < metrics->count ? &metrics->metrics[at] : NULL;

	if (!metrics->appended || !metric || n >= metric->event_count)
		return -1;
	return (int64_t)(metrics->first + metrics->counters[metric->counters[n]].at[0]);
}

/* --- values --- */

struct evaluation {
	const struct tally_metrics *set;
	const struct metric *metric;
	const struct metric_use *use;
	double (*count)(void *to, size_t event);
	void *to;
};

/* Times measured by the tool are in seconds, as in perf. */
static double value_of(void *to, size_t at, const char *id)
{
	const struct evaluation *evaluation = to;
	const struct metric_bind *bind = &evaluation->use->binds[at];
	const struct metric_counter *counter;
	double sum = 0;

	(void)id;
	if (bind->kind == BIND_NOTHING)
		return NAN;
	if (bind->kind == BIND_USE)
		return evaluation->metric->uses[bind->index].value;
	counter = &evaluation->set->counters[evaluation->metric->counters[bind->index]];
	for (size_t i = 0; i < counter->count; i++)
		sum += evaluation->count(evaluation->to, evaluation->set->first + counter->at[i]);
	return evaluation->set->events[counter->event].tool ? sum * 1e-9 : sum;
}

/* How many counters an event is the sum of; 1 for a metric. */
static double source_count(void *to, size_t at, const char *id)
{
	const struct evaluation *evaluation = to;
	const struct metric_bind *bind = &evaluation->use->binds[at];

	(void)id;
	if (bind->kind != BIND_EVENT)
		return 1;
	return (double)evaluation->set->counters[evaluation->metric->counters[bind->index]].count;
}

static double literal_of(void *to, enum tally_expression_literal literal)
{
	const struct evaluation *evaluation = to;

	return evaluation->set->machine.literal[literal];
}

static bool has_event(void *to, size_t at, const char *id)
{
	const struct evaluation *evaluation = to;

	(void)id;
	return evaluation->use->binds[at].has;
}

int tally_metrics_value(const struct tally_metrics *metrics, size_t at,
			double (*count)(void *context, size_t event), void *context,
			struct tally_metric_value *ret)
{
	struct tally_metric_value result = {.value = NAN, .threshold = -1};
	struct metric *metric = at < metrics->count ? &metrics->metrics[at] : NULL;
	struct evaluation evaluation = {
	    .set = metrics, .metric = metric, .count = count, .to = context};
	const struct tally_expression_source source = {
	    .value = value_of,
	    .source_count = source_count,
	    .literal = literal_of,
	    .has_event = has_event,
	    .cpuid = tally_table_cpuid(metrics->table),
	    .to = &evaluation,
	};

	if (!metrics->appended || !metric || metric->broken)
		return tally_result_copy(ret, sizeof(result), &result);
	for (size_t i = 0; i < metric->use_count; i++) {
		evaluation.use = &metric->uses[i];
		metric->uses[i].value = tally_expression_value(metric->uses[i].expression, &source);
	}
	result.value = metric->uses[metric->root].value * metric->info.scale;
	if (threshold_asks(metric) && !isnan(metric->uses[metric->use_count - 1].value))
		result.threshold = fpclassify(metric->uses[metric->use_count - 1].value) != FP_ZERO;
	return tally_result_copy(ret, sizeof(result), &result);
}
