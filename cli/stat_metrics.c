/* -M: metrics of the CPU's tables, the events that they need, and their values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "say.h"
#include "stat_command.h"

static char *joined(const struct cli_list *list)
{
	size_t length = 1;
	char *text, *at;

	for (size_t i = 0; i < list->count; i++)
		length += strlen(list->items[i]) + 1;
	text = at = calloc(1, length);
	for (size_t i = 0; text && i < list->count; i++) {
		if (i)
			*at++ = ',';
		at = stpcpy(at, list->items[i]);
	}
	return text;
}

int stat_metrics_find(struct stat_ask *ask)
{
	struct tally_metrics_options options = {
	    .size = sizeof(options),
	    .cpus = ask->cpus,
	    .system_wide = stat_has_cpus(ask),
	    .no_group = ask->metric_no_group,
	    .no_merge = ask->metric_no_merge,
	    .no_threshold = ask->metric_no_threshold,
	};
	const struct tally_metric_info *info;
	struct tally_error error = {.text = "out of memory"};
	char *names;
	int result;

	if (!ask->metric_names.count)
		return CLI_OK;
	names = joined(&ask->metric_names);
	result = names ? tally_metrics_new(names, &options, &ask->metrics, &error) : -1;
	free(names);
	if (!result)
		result = tally_metrics_append(ask->metrics, &ask->events);
	if (result) {
		cli_say("stat", "-M: %s", error.text);
		return CLI_FAILED;
	}
	for (size_t i = 0; (info = tally_metrics_at(ask->metrics, i)); i++)
		if (info->note && (tally_metrics_event(ask->metrics, i, 0) < 0 || ask->verbose))
			cli_say("stat", "%s: %s", info->name, info->note);
	return CLI_OK;
}

/* The event whose row shows the metric: the first event of the metric, as in perf. */
static int64_t first_event(const struct tally_metrics *metrics, size_t at)
{
	int64_t first = -1, event;

	for (size_t i = 0; (event = tally_metrics_event(metrics, at, i)) >= 0; i++)
		if (first < 0 || event < first)
			first = event;
	return first;
}

struct counted { /* the counts of a cgroup's events */
	const double *values;
	size_t first;
};

static double count_of(void *to, size_t event)
{
	const struct counted *counted = to;

	return counted->values[counted->first + event];
}

static double value_of(void *context, size_t metric, const double *values, int *ret_threshold)
{
	const struct stat_count *count = context;
	size_t cgroup = metric / count->metric_count;
	struct counted counted = {values, cgroup * count->ask->events.count};
	struct tally_metric_value value = {.size = sizeof(value)};

	tally_metrics_value(count->ask->metrics, metric % count->metric_count, count_of, &counted,
			    &value);
	*ret_threshold = value.threshold;
	return value.value;
}

int stat_metrics_put(struct stat_count *count, struct tally_stat_options *options)
{
	size_t cgroups = count->cgroup_count ? count->cgroup_count : 1, made = 0;
	const struct tally_metrics *metrics = count->ask->metrics;
	const struct tally_metric_info *info;

	if (!metrics)
		return CLI_OK;
	while (tally_metrics_at(metrics, count->metric_count))
		count->metric_count++;
	count->metrics = calloc(count->metric_count * cgroups + 1, sizeof(*count->metrics));
	if (!count->metrics) {
		cli_say("stat", "out of memory");
		return CLI_FAILED;
	}
	for (size_t cgroup = 0; cgroup < cgroups; cgroup++)
		for (size_t i = 0; (info = tally_metrics_at(metrics, i)); i++) {
			int64_t event = first_event(metrics, i);

			/* SIZE_MAX: no event, the metric is not shown. */
			count->metrics[made++] = (struct tally_stat_metric){
			    .name = info->name,
			    .unit = info->unit,
			    .event = event < 0 ? SIZE_MAX
					       : (size_t)event + cgroup * count->ask->events.count,
			};
		}
	options->metrics = count->metrics;
	options->metric_count = made;
	options->metric_value = value_of;
	options->metric_context = count;
	return CLI_OK;
}
