/* Drops what the idle task did: it is process 0 on every CPU, and samples of all CPUs are full of
 * it. */
#include <perf/perf_dlfilter.h>

/* Early: nothing else needs to be known of these. */
int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	(void)data, (void)ctx;
	return !sample->pid && !sample->tid;
}

const char *filter_description(const char **long_description)
{
	*long_description = "Drops samples of the idle task (process 0, \"swapper\").";
	return "drops the idle task";
}
