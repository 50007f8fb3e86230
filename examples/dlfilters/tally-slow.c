/* Keeps outliers: samples whose period is at least FACTOR times the average of those of the same
 * event before them.  The period of a tracepoint or of a latency event says how long something
 * took. */
#include <perf/perf_dlfilter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MOST  64
#define FACTOR_USUAL 10
/* The average of so many is believed. */
#define LEAST_KNOWN 16

struct perf_dlfilter_fns perf_dlfilter_fns;

struct event {
	char name[128];
	double sum;
	unsigned long long count;
};

struct slow {
	double factor;
	struct event events[EVENTS_MOST];
	unsigned count;
};

int start(void **data, void *ctx)
{
	struct slow *slow = calloc(1, sizeof(*slow));
	int count;
	char **args = perf_dlfilter_fns.args(ctx, &count), *end = "";

	if (!slow)
		return -1;
	slow->factor = count ? strtod(args[0], &end) : FACTOR_USUAL;
	if (*end || !(slow->factor > 0)) {
		fprintf(stderr, "tally-slow: '%s' is no factor; give one like --dlarg 10\n",
			args[0]);
		free(slow);
		return -1;
	}
	*data = slow;
	return 0;
}

/* NULL: there are too many. */
static struct event *find(struct slow *slow, const char *name)
{
	unsigned i = 0;

	while (i < slow->count && strcmp(slow->events[i].name, name) != 0)
		i++;
	if (i == EVENTS_MOST || strlen(name) >= sizeof(slow->events[i].name))
		return NULL;
	if (i == slow->count) {
		snprintf(slow->events[i].name, sizeof(slow->events[i].name), "%s", name);
		slow->count++;
	}
	return &slow->events[i];
}

int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	struct slow *slow = data;
	struct event *event = sample->event ? find(slow, sample->event) : NULL;
	double period = (double)sample->period;
	int keep;

	(void)ctx;
	if (!event)
		return 0;
	keep = event->count >= LEAST_KNOWN &&
	       period >= slow->factor * event->sum / (double)event->count;
	event->sum += period;
	event->count++;
	return !keep;
}

int stop(void *data, void *ctx)
{
	(void)ctx;
	free(data);
	return 0;
}

const char *filter_description(const char **long_description)
{
	*long_description =
	    "Keeps samples whose period is at least so many times the average of those of the\n"
	    "same event before it, once 16 are known.\n"
	    "--dlarg FACTOR   how many times (10)";
	return "keeps outliers by period";
}
