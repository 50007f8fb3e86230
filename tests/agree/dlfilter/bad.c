/* Filters that do not work: WHAT is done in CALLBACK. */
#include <perf/perf_dlfilter.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int zero;

static int deeper(volatile char *before)
{
	volatile char here[4096];

	here[0] = *before;
	return deeper(here) + here[0];
}

static int fail(void)
{
	char one = 1;

	switch (WHAT) {
	case 'n': /* a null pointer */
		*(volatile int *)(long)zero = 1;
		break;
	case 'a':
		abort();
	case 's': /* a stack without end */
		return deeper(&one);
	case 'l': /* never returns */
		fputs("looping\n", stderr);
		for (;;)
			zero = 0;
	case 'w': /* takes its time */
		fputs("looping\n", stderr);
		usleep(300000);
		break;
	}
	return 0;
}

#define IS_filter_event       1
#define IS_filter_event_early 2
#define IS_start              3
#define IS_stop               4
#define GLUE(a, b)            a##b
#define IS(name)              GLUE(IS_, name)

int start(void **data, void *ctx)
{
	(void)data, (void)ctx;
	return IS(CALLBACK) == IS_start ? fail() : 0;
}

int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	(void)data, (void)sample, (void)ctx;
	return IS(CALLBACK) == IS_filter_event_early ? fail() : 0;
}

int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	(void)data, (void)sample, (void)ctx;
	return IS(CALLBACK) == IS_filter_event ? fail() : 0;
}

int stop(void *data, void *ctx)
{
	(void)data, (void)ctx;
	puts("stopped");
	return IS(CALLBACK) == IS_stop ? fail() : 0;
}
