/* A filter to begin with: keeps every sample.  See tally-dlfilter(7).
 *
 *	cc -O2 -fPIC -shared -o mine.so tally-template.c
 *	tally script --dlfilter ./mine.so --dlarg TEXT */
#include <perf/perf_dlfilter.h>
#include <stdlib.h>

/* Filled when the filter is loaded: what can be asked.  Leave it out when nothing is. */
struct perf_dlfilter_fns perf_dlfilter_fns;

/* What is kept between calls. */
struct mine {
	unsigned long long samples;
};

int start(void **data, void *ctx)
{
	int count;
	char **args = perf_dlfilter_fns.args(ctx, &count);

	(void)args;
	*data = calloc(1, sizeof(struct mine));
	return *data ? 0 : -1;
}

/* 0 keeps the sample, 1 drops it, below 0 ends the reading.  Anything may be asked here:
 * perf_dlfilter_fns.resolve_ip(ctx)->sym, ... */
int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	struct mine *mine = data;

	(void)sample, (void)ctx;
	mine->samples++;
	return 0;
}

int stop(void *data, void *ctx)
{
	(void)ctx;
	free(data);
	return 0;
}

const char *filter_description(const char **long_description)
{
	*long_description = "A filter to begin with, which keeps every sample.";
	return "keeps every sample";
}
