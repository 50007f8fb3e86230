/* Counts what a function costs, and prints the version of the library. */
#include <inttypes.h>
#include <stdio.h>
#include <tally/tally.h>

int main(void)
{
	struct tally_event_list events = {0};
	struct tally_counters_options options = {.size = sizeof(options), .events = &events};
	struct tally_counters *set = NULL;
	struct tally_count counts[2];
	struct tally_error error;
	uint64_t value;

	printf("libtally %s\n", tally_version());
	if (tally_event_list_parse("task-clock:u,page-faults:u", NULL, &events, &error) ||
	    tally_counters_open(&options, &set, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	tally_counters_enable(set);
	puts("what is measured");
	tally_counters_disable(set);
	tally_counters_read(set, counts);
	for (size_t i = 0; i < events.count; i++)
		if (tally_count_estimate(&counts[i], &value) >= TALLY_COUNT_PARTIAL)
			printf("%s: %" PRIu64 "\n", events.events[i].name, value);
	tally_counters_close(set);
	tally_event_list_done(&events);
	return 0;
}
