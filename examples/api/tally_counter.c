/* Counts the page faults of a part of this program. */
#include <inttypes.h>
#include <stdio.h>
#include <tally/counter.h>

static volatile char memory[1 << 20];

int main(void)
{
	struct tally_event_list events = {0};
	struct tally_counters_options options = {.size = sizeof(options), .events = &events};
	struct tally_counters *set = NULL;
	struct tally_count count;
	struct tally_error error;
	uint64_t faults;

	if (tally_event_list_parse("page-faults:u", NULL, &events, &error) ||
	    tally_counters_open(&options, &set, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	tally_counters_enable(set);
	for (size_t i = 0; i < sizeof(memory); i += 4096)
		memory[i] = 1;
	tally_counters_disable(set);
	tally_counters_read(set, &count);
	if (tally_count_estimate(&count, &faults) >= TALLY_COUNT_PARTIAL)
		printf("%" PRIu64 " page faults\n", faults);
	else if (tally_counters_why(set, 0, 0, &error))
		fprintf(stderr, "%s\n", error.text);
	tally_counters_close(set);
	tally_event_list_done(&events);
	return 0;
}
