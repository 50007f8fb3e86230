/* What a region's begin and end cost beyond the two reads of the kernel that they are made of.
 *
 * Prints one JSON object: nanoseconds of a pair, the least of many rounds, taken in turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <tally/tally.h>

#define ROUNDS 8000
#define PAIRS  40

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int fail(const struct tally_error *error)
{
	fprintf(stderr, "region_cost: %s\n", error->text);
	return 1;
}

int main(int argc, char **argv)
{
	struct tally_event_options by_default = {.size = sizeof(by_default)};
	struct tally_event_list events = {0};
	struct tally_counters_options set_options = {.size = sizeof(set_options),
						     .no_inherit = true};
	struct tally_regions_options options = {.size = sizeof(options), .no_rdpmc = true};
	struct tally_counters *set;
	struct tally_regions *regions;
	struct tally_error error;
	double reads = 1e18, pairs = 1e18, direct = 1e18;
	uint64_t words[64];
	int fd, region;

	if (tally_event_list_parse(argc > 1 ? argv[1] : "{task-clock,page-faults}", &by_default,
				   &events, &error) < 0)
		return fail(&error);
	options.events = set_options.events = &events;
	if (tally_counters_open(&set_options, &set, &error) < 0 ||
	    tally_regions_open(&options, &regions, &error) < 0)
		return fail(&error);
	tally_counters_enable(set);
	fd = tally_counters_fd(set, 0, 0);
	region = tally_region(regions, "loop");
	if (fd < 0 || region < 0 || tally_region_begin(regions, region) ||
	    tally_region_end(regions, region)) {
		fprintf(stderr, "region_cost: the events cannot be read here\n");
		return 1;
	}
	for (int round = 0; round < ROUNDS; round++) {
		double start = now(), end;

		for (int i = 0; i < PAIRS; i++)
			if (read(fd, words, sizeof(words)) < 0 ||
			    read(fd, words, sizeof(words)) < 0)
				return 1;
		end = now();
		if ((end - start) / PAIRS < reads)
			reads = (end - start) / PAIRS;
		start = now();
		for (int i = 0; i < PAIRS; i++) {
			tally_region_begin(regions, region);
			tally_region_end(regions, region);
		}
		end = now();
		if ((end - start) / PAIRS < pairs)
			pairs = (end - start) / PAIRS;
	}
	tally_regions_close(regions);
	options.no_rdpmc = false;
	if (tally_regions_open(&options, &regions, &error) < 0)
		return fail(&error);
	region = tally_region(regions, "loop");
	if (tally_regions_direct(regions))
		for (int round = 0; round < ROUNDS; round++) {
			double start = now(), end;

			for (int i = 0; i < PAIRS; i++) {
				tally_region_begin(regions, region);
				tally_region_end(regions, region);
			}
			end = now();
			if ((end - start) / PAIRS < direct)
				direct = (end - start) / PAIRS;
		}
	printf("{\"read_ns\": %.1f, \"region_ns\": %.1f, \"beyond_ns\": %.1f", reads, pairs,
	       pairs - reads);
	if (direct < 1e18)
		printf(", \"direct_ns\": %.1f", direct);
	printf("}\n");
	tally_regions_close(regions);
	tally_counters_close(set);
	tally_event_list_done(&events);
	return 0;
}
