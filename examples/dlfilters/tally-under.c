/* Keeps samples that were taken under a function: it is where the sample fell, or in its call
 * chain. */
#include <perf/perf_dlfilter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct perf_dlfilter_fns perf_dlfilter_fns;

struct under {
	char **names;
	int count;
};

int start(void **data, void *ctx)
{
	struct under *under = calloc(1, sizeof(*under));

	if (!under)
		return -1;
	under->names = perf_dlfilter_fns.args(ctx, &under->count); /* these stay until stop() */
	if (!under->count) {
		fprintf(stderr, "tally-under: which function? give it with --dlarg NAME\n");
		free(under);
		return -1;
	}
	*data = under;
	return 0;
}

static int is_one(const struct under *under, const char *symbol)
{
	for (int i = 0; symbol && i < under->count; i++)
		if (!strcmp(under->names[i], symbol))
			return 1;
	return 0;
}

int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	const struct perf_dlfilter_al *at = perf_dlfilter_fns.resolve_ip(ctx);

	if (at && is_one(data, at->sym))
		return 0;
	for (__u64 i = 0; i < sample->raw_callchain_nr; i++) {
		struct perf_dlfilter_al caller = {.size = sizeof(caller)};
		int found;

		if (sample->raw_callchain[i] >= (__u64)PERF_CONTEXT_MAX)
			continue; /* a mark */
		/* A return address may lie behind the function, when what it called does not
		 * return. */
		found = !perf_dlfilter_fns.resolve_address(ctx, sample->raw_callchain[i] - 1,
							   &caller) &&
			is_one(data, caller.sym);
		if (perf_dlfilter_fns.al_cleanup)
			perf_dlfilter_fns.al_cleanup(ctx, &caller);
		if (found)
			return 0;
	}
	return 1;
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
	    "Keeps samples in a function or in what it called, by their call chains.\n"
	    "--dlarg NAME   the function; several: any of them";
	return "keeps samples under a function";
}
