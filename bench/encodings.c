/* How many event names a second one core encodes, over a sysfs that was read once.
 *
 * Usage: bench-encodings SYSFS NAME...     prints the number a second, of the best of five rounds
 */
#include <stdio.h>
#include <stdlib.h>
#include <tally/event.h>
#include <time.h>

#define ROUND 20000

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void encode(const char *name, const struct tally_event_options *options)
{
	struct tally_event_list list;
	struct tally_error error;

	if (tally_event_list_parse(name, options, &list, &error)) {
		fprintf(stderr, "bench-encodings: %s: %s\n", name, error.text);
		exit(1);
	}
	tally_event_list_done(&list);
}

int main(int argc, char **argv)
{
	struct tally_event_options options = {.size = sizeof(options)};
	double best = 0;

	if (argc < 3)
		return 2;
	options.sysfs = argv[1];
	if (tally_event_context_new(&options, &options.context))
		return 1;
	for (int round = 0; round < 6; round++) { /* the first reads sysfs */
		double begin = now(), rate;

		for (int i = 0; i < ROUND; i++)
			encode(argv[2 + i % (argc - 2)], &options);
		rate = ROUND / (now() - begin);
		if (round && rate > best)
			best = rate;
	}
	printf("%.0f\n", best);
	tally_event_context_free(options.context);
	return 0;
}
