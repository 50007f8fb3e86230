/* Where the fields of an event's samples stand: offsets made once, read for every record. */
#ifndef TALLY_WIRE_LAYOUT_H
#define TALLY_WIRE_LAYOUT_H

#include <tally/record.h>

/* One sample field in payload order.  Source: perf_output_sample() of the kernel as documented in
 * perf_event.h above PERF_RECORD_SAMPLE. */
struct wire_fixed_field {
	uint64_t bit;
	enum tally_fixed field;
};

extern const struct wire_fixed_field tally_wire_fixed[TALLY_FIXED_COUNT];

#endif
