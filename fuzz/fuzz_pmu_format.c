/* Any text as a file of a PMU's format/ in sysfs: a value spread over its bits comes back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "event/pmu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	uint64_t mask, most, value = 0;
	unsigned which;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	memcpy(&value, data, size < sizeof(value) ? size : sizeof(value));
	if (!tally_pmu_format_parse(text, &which, &mask)) {
		struct tally_attr attr = {0};

		most = tally_pmu_format_most(mask);
		if (which > 4 || !mask || !tally_attr_config(&attr, which))
			abort();
		value &= most;
		if (tally_pmu_extract(tally_pmu_spread(value, mask), mask) != value ||
		    tally_pmu_spread(most, mask) != mask || tally_pmu_spread(value, mask) & ~mask)
			abort();
	}
	free(text);
	return 0;
}
