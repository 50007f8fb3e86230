/* A program that counts itself: parts of it by name, in eight threads.
 *
 *	cc regions.c $(pkg-config --cflags --libs tally) -pthread -o regions && ./regions
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/tally.h>

#define THREADS 8
#define ROUNDS  20
#define EVENTS  3

struct job {
	struct tally_regions *regions;
	int fill, sort;
	unsigned seed;
};

static int by_value(const void *a, const void *b)
{
	int left = *(const int *)a, right = *(const int *)b;

	return (left > right) - (left < right);
}

static void *work(void *argument)
{
	struct job *job = argument;
	static const size_t count = 20000;

	for (int round = 0; round < ROUNDS; round++) {
		int *numbers;

		tally_region_begin(job->regions, job->fill);
		numbers = malloc(count * sizeof(*numbers));
		for (size_t i = 0; numbers && i < count; i++) {
			job->seed = job->seed * 1103515245 + 12345;
			numbers[i] = (int)(job->seed >> 8);
		}
		tally_region_end(job->regions, job->fill);

		tally_region_begin(job->regions, job->sort);
		if (numbers)
			qsort(numbers, count, sizeof(*numbers), by_value);
		tally_region_end(job->regions, job->sort);
		free(numbers);
	}
	return NULL;
}

static void show(struct tally_regions *regions, int region, size_t thread)
{
	struct tally_count counts[EVENTS];
	struct tally_region_result result = {.size = sizeof(result)};
	uint64_t time = 0, value = 0;

	if (tally_region_result(regions, region, thread, &result, counts, NULL))
		return;
	printf("%-6s", result.name);
	if (result.tid)
		printf(" thread %7d", (int)result.tid);
	else
		printf(" all threads   ");
	printf(" %5" PRIu64 " times", result.calls);
	if (tally_count_estimate(&counts[0], &time) >= TALLY_COUNT_SCALED)
		printf(" %9.3f ms", (double)time / 1e6);
	if (tally_count_estimate(&counts[1], &value) >= TALLY_COUNT_SCALED)
		printf(" %7" PRIu64 " page faults", value);
	/* Not on machines without a PMU; then it is told once, below. */
	if (tally_count_estimate(&counts[2], &value) >= TALLY_COUNT_SCALED)
		printf(" %12" PRIu64 " instructions (%s)", value,
		       tally_count_quality_name(counts[2].quality));
	putchar('\n');
}

int main(void)
{
	struct tally_event_options by_default = {.size = sizeof(by_default)};
	struct tally_regions_options options = {.size = sizeof(options)};
	struct tally_event_list events = {0};
	struct tally_regions *regions;
	struct tally_error error;
	struct job jobs[THREADS];
	pthread_t threads[THREADS];
	size_t count = 0;

	if (tally_event_list_parse("{task-clock:u,page-faults:u},instructions:u", &by_default,
				   &events, &error) < 0)
		goto failed;
	options.events = &events;
	if (tally_regions_open(&options, &regions, &error) < 0)
		goto failed;
	for (; count < THREADS; count++) {
		jobs[count] = (struct job){regions, tally_region(regions, "fill"),
					   tally_region(regions, "sort"), (unsigned)count + 1};
		if (pthread_create(&threads[count], NULL, work, &jobs[count]))
			break;
	}
	for (size_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);

	for (int region = 0; region < (int)tally_regions_count(regions); region++) {
		for (size_t i = 0; i < tally_regions_thread_count(regions); i++)
			show(regions, region, i);
		show(regions, region, SIZE_MAX);
	}
	if (tally_regions_why(regions, 2, &error))
		printf("no instructions: %s\n", error.text);
	tally_regions_close(regions);
	tally_event_list_done(&events);
	return 0;
failed:
	fprintf(stderr, "regions: %s\n", error.text);
	return 1;
}
