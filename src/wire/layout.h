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

/* The fields of an event's samples that are not of fixed place. */
static inline uint64_t layout_varied(const struct tally_layout *layout)
{
	uint64_t varied = layout->sample_type;

	for (size_t i = 0; i < TALLY_FIXED_COUNT; i++)
		varied &= ~tally_wire_fixed[i].bit;
	return varied;
}

/* Whether a sample's fields end where it does, in one of the shapes that samples of its event have,
 * and do not contradict each other. */
bool tally_sample_fills(const struct tally_layout *layout, const struct tally_record *record);
/* The bytes of a record of that type whose fields all have fixed sizes; 0: they have not. */
unsigned tally_record_fixed_size(const struct tally_layout *layout, uint32_t type);

#endif
