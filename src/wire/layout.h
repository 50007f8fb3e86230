/* Where the fields of an event's samples stand: offsets made once, read for every record. */
#ifndef TALLY_WIRE_LAYOUT_H
#define TALLY_WIRE_LAYOUT_H

#include <tally/record.h>
#include "base/bytes.h"

/* One sample field in payload order.  Source: perf_output_sample() of the kernel as documented in
 * perf_event.h above PERF_RECORD_SAMPLE. */
struct wire_fixed_field {
	uint64_t bit;
	enum tally_fixed field;
};

extern const struct wire_fixed_field tally_wire_fixed[TALLY_FIXED_COUNT];

static inline bool wire_has(const struct tally_layout *layout, enum tally_fixed field)
{
	return layout->at[field] >= 0;
}

/* A fixed field of a sample; the record is known to be at least variable_at long. */
static inline uint64_t wire_fixed_u64(const struct tally_layout *layout, const uint8_t *bytes,
				      enum tally_fixed field)
{
	return load_u64(bytes + layout->at[field]);
}

#endif
