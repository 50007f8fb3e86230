/* A filter made of the options that it is compiled with: EARLY, LATE, START, STOP are what the
 * callbacks return (`n`: how often this one was called; `s`: the sample; `al`: resolve_ip()'s
 * answer), QUIET: it prints nothing, CONSTANT: its table is constant, RESOLVE: it looks the ip up.
 */
#include <perf/perf_dlfilter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef CONSTANT
const struct perf_dlfilter_fns perf_dlfilter_fns;
#elif !defined(NO_TABLE)
struct perf_dlfilter_fns perf_dlfilter_fns;
#endif

#ifdef QUIET
#define SAY(...)
#else
#define SAY(...) printf(__VA_ARGS__)
#endif

#ifdef RESOLVE
#define AL const struct perf_dlfilter_al *al = perf_dlfilter_fns.resolve_ip(ctx)
#else
#define AL const struct perf_dlfilter_al *al = NULL
#endif

#ifdef MISSING
extern int nobody_has_this(void);
#endif

#ifdef START
int start(void **data, void *ctx)
{
	static int kept = 42;

#ifdef MISSING
	nobody_has_this();
#endif
	(void)ctx;
	SAY("start %d\n", *data == NULL);
	*data = &kept;
	return START;
}
#endif

#ifdef EARLY
int filter_event_early(void *data, const struct perf_dlfilter_sample *s, void *ctx)
{
	static int n;
	AL;

	(void)data, (void)s, (void)al, (void)ctx;
	SAY("<%d>", ++n);
	return EARLY;
}
#endif

#ifdef LATE
int filter_event(void *data, const struct perf_dlfilter_sample *s, void *ctx)
{
	static int n;
	AL;

	(void)data, (void)s, (void)al, (void)ctx;
	n++;
	SAY("[%d]", n);
	return LATE;
}
#endif

#ifdef STOP
int stop(void *data, void *ctx)
{
	(void)ctx;
	SAY("stop %d\n", data ? *(int *)data : 0);
	return STOP;
}
#endif

#ifdef DESCRIBE
const char *filter_description(const char **text)
{
#ifdef LONG
	*text = LONG;
#endif
	(void)text;
	return DESCRIBE;
}
#endif
