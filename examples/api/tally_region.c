/* Counts the page faults of a named part of this program. */
#include <inttypes.h>
#include <stdio.h>
#include <tally/region.h>

static volatile char memory[1 << 20];

int main(void)
{
	struct tally_event_list events = {0};
	struct tally_regions_options options = {.size = sizeof(options), .events = &events};
	struct tally_region_result result = {.size = sizeof(result)};
	struct tally_regions *regions;
	struct tally_count count;
	struct tally_error error;
	int fill;

	if (tally_event_list_parse("page-faults:u", NULL, &events, &error) ||
	    tally_regions_open(&options, &regions, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	fill = tally_region(regions, "fill");
	tally_region_begin(regions, fill);
	for (size_t i = 0; i < sizeof(memory); i += 4096)
		memory[i] = 1;
	tally_region_end(regions, fill);
	if (!tally_region_result(regions, fill, SIZE_MAX, &result, &count, NULL))
		printf("%s: %" PRIu64 " page faults\n", result.name, count.raw);
	tally_regions_close(regions);
	tally_event_list_done(&events);
	return 0;
}
