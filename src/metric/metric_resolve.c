/* From a metric's name down to events: expressions name other metrics, and these again others. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/table.h"
#include "metric/metric_inner.h"

#define DEEPEST 64   /* metrics that name metrics; the tables have 9 */
#define MOST    4096 /* expressions of one */

struct resolver {
	struct tally_metrics *set;
	struct metric *metric;
	struct tally_expression_source source; /* the values that do not depend on counters */
	struct metric_bind *binds;             /* of the current expression */
	const struct tally_table_event *way[DEEPEST]; /* from the metric down to the current one */
	size_t depth;
	struct tally_error *error;
};

static int fail_memory(const struct resolver *resolver)
{
	return tally_fail(resolver->error, -ENOMEM, -1, "out of memory");
}

static double literal_of(void *to, enum tally_expression_literal literal)
{
	struct resolver *resolver = to;

	return tally_metric_machine_literal(&resolver->set->machine, literal);
}

static bool has_event(void *to, size_t at, const char *id)
{
	struct resolver *resolver = to;
	int64_t event = tally_metrics_event_of(resolver->set, id, "", resolver->metric->entry->pmu);

	return resolver->binds[at].has = event >= 0 && !resolver->set->events[event].wrong;
}

/* --- the metric's lists --- */

static int64_t add_use(struct resolver *resolver, const struct metric_use *use)
{
	struct metric *metric = resolver->metric;

	if (metric->use_count == MOST)
		return tally_fail(resolver->error, -E2BIG, -1,
				  "the metric %s is made of over %d metrics", metric->entry->metric,
				  MOST);
	if (!array_next(&metric->uses, &metric->use_room, metric->use_count, 4,
			sizeof(*metric->uses)))
		return fail_memory(resolver);
	metric->uses[metric->use_count] = *use;
	return (int64_t)metric->use_count++;
}

static int64_t add_event(struct resolver *resolver, const char *id)
{
	struct metric *metric = resolver->metric;
	int64_t event =
	    tally_metrics_event_of(resolver->set, id, metric->modifiers, metric->entry->pmu);

	if (event < 0)
		return fail_memory(resolver);
	for (size_t i = 0; i < metric->event_count; i++)
		if (metric->events[i] == (size_t)event)
			return (int64_t)i;
	if (!array_next(&metric->events, &metric->event_room, metric->event_count, 8,
			sizeof(*metric->events)))
		return fail_memory(resolver);
	metric->events[metric->event_count] = (size_t)event;
	return (int64_t)metric->event_count++;
}

/* --- going down --- */

static int64_t find_use(const struct metric *metric, const struct tally_table_event *entry)
{
	for (size_t i = 0; i < metric->use_count; i++)
		if (metric->uses[i].entry == entry)
			return (int64_t)i;
	return -1;
}

static int fail_recursion(const struct resolver *resolver, const struct tally_table_event *entry)
{
	const char *by = resolver->way[resolver->depth - 1]->metric;

	if (!strcmp(by, entry->metric))
		return tally_fail(resolver->error, -EINVAL, -1,
				  "the metric %s of the tables names itself", entry->metric);
	return tally_fail(resolver->error, -EINVAL, -1,
			  "the metric %s of the tables names itself through %s", entry->metric, by);
}

static int64_t use_expression(struct resolver *resolver, const struct tally_table_event *entry,
			      const char *text);

static int64_t use_metric(struct resolver *resolver, const struct tally_table_event *entry)
{
	int64_t use = find_use(resolver->metric, entry);

	if (use >= 0)
		return use;
	for (size_t i = 0; i < resolver->depth; i++)
		if (resolver->way[i] == entry)
			return fail_recursion(resolver, entry);
	if (resolver->depth == DEEPEST)
		return tally_fail(resolver->error, -E2BIG, -1,
				  "the metric %s of the tables is over %d metrics deep",
				  resolver->metric->entry->metric, DEEPEST);
	resolver->way[resolver->depth++] = entry;
	use = use_expression(resolver, entry, entry->expression);
	resolver->depth--;
	return use;
}

static int bind(struct resolver *resolver, const char *id, struct metric_bind *ret)
{
	const struct tally_table_event *entry =
	    tally_metrics_find(resolver->set, resolver->metric->entry->pmu, id);
	int64_t index = entry ? use_metric(resolver, entry) : add_event(resolver, id);

	if (index < 0)
		return (int)index;
	ret->kind = entry ? BIND_USE : BIND_EVENT;
	ret->index = (size_t)index;
	return 0;
}

/* Events are in the order in which their first expression names them; a metric is resolved where it
 * is named. */
static int bind_all(struct resolver *resolver, struct metric_use *use)
{
	size_t count = 0;
	bool *needed;
	int result;

	while (tally_expression_id(use->expression, count))
		count++;
	use->binds = calloc(count + 1, sizeof(*use->binds));
	needed = calloc(count + 1, sizeof(*needed));
	resolver->binds = use->binds;
	if (use->binds && needed)
		result = tally_expression_needed(use->expression, &resolver->source, needed);
	else
		result = -ENOMEM;
	if (result)
		fail_memory(resolver);
	for (size_t i = 0; i < count && !result; i++)
		if (needed[i])
			result =
			    bind(resolver, tally_expression_id(use->expression, i), &use->binds[i]);
	free(needed);
	return result;
}

/* Returns the number of its use. */
static int64_t use_expression(struct resolver *resolver, const struct tally_table_event *entry,
			      const char *text)
{
	struct metric_use use = {.entry = entry};
	struct tally_error own;
	int64_t result = tally_expression_parse(text, 0, &use.expression, &own);

	if (result)
		return tally_fail(resolver->error, (int)result, -1, "the metric %s: %s: %.200s",
				  entry ? entry->metric : resolver->metric->entry->metric, own.text,
				  text);
	result = bind_all(resolver, &use);
	if (!result)
		result = add_use(resolver, &use);
	if (result < 0) {
		tally_expression_free(use.expression);
		free(use.binds);
	}
	return result;
}

/* --- the threshold --- */

static void forget_uses(struct metric *metric, size_t from)
{
	for (size_t i = from; i < metric->use_count; i++) {
		tally_expression_free(metric->uses[i].expression);
		free(metric->uses[i].binds);
	}
	metric->use_count = from;
}

/* A threshold that is invalid, or needs a missing event, is ignored: the value was asked for, not
 * the threshold. */
static void resolve_threshold(struct resolver *resolver)
{
	struct metric *metric = resolver->metric;
	size_t uses = metric->use_count, events = metric->event_count;
	bool wrong;

	resolver->error = NULL;
	resolver->depth = 0;
	wrong = use_expression(resolver, NULL, metric->entry->threshold) < 0;
	for (size_t i = events; i < metric->event_count && !wrong; i++)
		wrong = resolver->set->events[metric->events[i]].wrong != NULL;
	if (metric->event_count > events && resolver->set->no_threshold)
		wrong = true;
	if (wrong) {
		forget_uses(metric, uses);
		metric->event_count = events;
	}
}

int tally_metrics_resolve(struct tally_metrics *set, struct metric *metric,
			  struct tally_error *error)
{
	struct resolver resolver = {
	    .set = set,
	    .metric = metric,
	    .source = {.literal = literal_of,
		       .has_event = has_event,
		       .cpuid = tally_table_cpuid(set->table)},
	    .error = error,
	};
	int64_t root;

	resolver.source.to = &resolver;
	root = use_metric(&resolver, metric->entry);
	if (root < 0)
		return (int)root;
	metric->root = (size_t)root;
	for (size_t i = 0; i < metric->event_count; i++) {
		const struct metric_event *event = &set->events[metric->events[i]];

		if (event->wrong)
			return tally_fail(error, -EINVAL, -1, "the metric %s needs %s: %s",
					  metric->entry->metric, event->text, event->wrong);
	}
	if (metric->entry->threshold)
		resolve_threshold(&resolver);
	if (!metric->event_count && add_event(&resolver, "duration_time") < 0)
		return fail_memory(
		    &resolver); /* so that the threshold has an event to be shown with */
	return 0;
}
