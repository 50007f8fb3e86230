/* Ratios of a group: events that were on the hardware together, read at once, so that their ratio
 * is true even when they took turns with others.
 *
 *	cc ratios.c $(pkg-config --cflags --libs tally) -o ratios && ./ratios
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tally/tally.h>

/* With a PMU, and without. */
static const char hardware[] = "{cycles:u,instructions:u}";
static const char software[] = "{task-clock:u,page-faults:u}";

static int fail(const struct tally_error *error)
{
	fprintf(stderr, "ratios: %s\n", error->text);
	return 1;
}

/* Pages that are touched for the first time, and a walk over them that is hard to predict. */
static uint64_t work(void)
{
	size_t count = 1 << 22, at = 1;
	uint32_t *table = malloc(count * sizeof(*table));
	uint64_t sum = 0;

	if (!table)
		return 0;
	for (size_t i = 0; i < count; i++)
		table[i] = (uint32_t)i * 2654435761U;
	for (size_t i = 0; i < count; i++) {
		at = table[at] % count;
		sum += at;
	}
	free(table);
	return sum;
}

/* Opens a group; 0 when the machine does not have it. */
static struct tally_counters *open_group(const char *names, struct tally_event_list *events)
{
	struct tally_event_options by_default = {.size = sizeof(by_default)};
	struct tally_counters_options self = {
	    .size = sizeof(self), .events = events, .no_inherit = true, .strict = true};
	struct tally_counters *set;
	struct tally_error error;

	if (tally_event_list_parse(names, &by_default, events, &error) < 0) {
		fail(&error);
		return NULL;
	}
	if (!tally_counters_open(&self, &set, &error))
		return set;
	printf("%s cannot be counted here: %s\n", names, error.text);
	tally_event_list_done(events);
	return NULL;
}

int main(void)
{
	struct tally_event_list events = {0};
	struct tally_counters *set = open_group(hardware, &events);
	struct tally_count counts[2];
	uint64_t first, second;
	int has_hardware = set != NULL;

	if (!set)
		set = open_group(software, &events);
	if (!set)
		return 1;
	tally_counters_enable(set);
	work();
	tally_counters_disable(set);
	if (tally_counters_read(set, counts) < 0)
		return 1;

	/* Estimates say how good they are; of a ratio only that both ran matters. */
	if (tally_count_estimate(&counts[0], &first) < TALLY_COUNT_SCALED ||
	    tally_count_estimate(&counts[1], &second) < TALLY_COUNT_SCALED || !first)
		printf("not counted: %s\n", tally_count_quality_name(counts[0].quality));
	else if (has_hardware)
		printf("%" PRIu64 " cycles, %" PRIu64
		       " instructions: %.2f a cycle, counted %.0f %% of "
		       "the time\n",
		       first, second, (double)second / (double)first,
		       100 * tally_count_share(&counts[0]));
	else
		printf("%.1f ms of CPU time, %" PRIu64 " page faults: %.0f a second\n",
		       (double)first / 1e6, second, 1e9 * (double)second / (double)first);
	tally_counters_close(set);
	tally_event_list_done(&events);
	return 0;
}
