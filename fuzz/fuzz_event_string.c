/* The event parser without a machine: the sysfs and tracefs given are not there, so that no answer
 * depends on this one's. */
#include "events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct tally_event_options options = {
	    .size = sizeof(options), .sysfs = "/nonexistent", .tracefs = "/nonexistent"};

	parse_events(data, size, &options);
	return 0;
}
