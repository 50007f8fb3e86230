#include "wire/sample_shape.h"

#include <string.h>
#include "wire/sample_read.h"
#include "wire/walk.h"

/* Numbers of branch records in a processor are small, -1 for none; addresses are not. */
#define HW_INDEX_MOST 4096U

/* Fields that a newer kernel added come after all others. */
#define KNOWN_FIELDS (((uint64_t)PERF_SAMPLE_WEIGHT_STRUCT << 1) - 1)

/* Whether the fields end exactly at the record's end. */
typedef bool (*fill_fn)(const struct tally_layout *layout, const struct tally_record *record,
			struct tally_sample *ret);

static bool fill(const struct tally_layout *layout, const struct tally_record *record,
		 struct tally_sample *ret)
{
	size_t end;

	return sample_holds(layout, record) &&
	       !tally_sample_read_fields(layout, record, layout->field_count, ret, &end) &&
	       end == record->size;
}

/* The bytes are not changed. */
static __attribute__((noinline)) bool fill_swapped(const struct tally_layout *layout,
						   const struct tally_record *record,
						   struct tally_sample *ret)
{
	uint8_t copy[UINT16_MAX + 1];
	struct wire_walk walk = {
	    .mode = WIRE_SWAP,
	    .layout = layout,
	    .bytes = copy,
	    .at = sizeof(struct perf_event_header),
	    .end = record->size,
	    .misc = record->misc,
	    .to_native = true,
	};

	memcpy(copy, record->bytes, record->size);
	memset(ret, 0, sizeof(*ret));
	return !tally_wire_walk(&walk, tally_wire_sample_rows, layout->sample_type, ret) &&
	       walk.at == record->size;
}

/* Whether the value at the place of hw_idx can be an index. */
static bool has_index(const struct tally_sample *sample)
{
	return sample->branch_hw_idx + 1 <= HW_INDEX_MOST || !sample->branch_nr;
}

bool tally_sample_shape_varies(const struct tally_layout *layout)
{
	const uint64_t doubtful = PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_COUNTERS;

	return (layout->sample_type & PERF_SAMPLE_BRANCH_STACK) &&
	       (layout->branch_sample_type & doubtful);
}

const struct tally_layout *tally_sample_shape(const struct tally_layout *layout,
					      const struct tally_record *record, bool swapped,
					      struct tally_layout *room)
{
	static const uint32_t left_out[] = {
	    PERF_SAMPLE_BRANCH_COUNTERS,
	    PERF_SAMPLE_BRANCH_HW_INDEX,
	    PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_COUNTERS,
	};
	const fill_fn try = swapped ? fill_swapped : fill;
	struct tally_sample sample;
	bool filled;

	if (!tally_sample_shape_varies(layout))
		return layout;
	filled = try(layout, record, &sample);
	if (filled && has_index(&sample))
		return layout;
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
		if ((layout->branch_sample_type & left_out[i]) != left_out[i])
			continue;
		*room = *layout;
		room->branch_sample_type &= ~(uint64_t)left_out[i];
		if (try(room, record, &sample) && has_index(&sample))
			return room;
	}
	return filled ? layout : NULL;
}

bool tally_sample_fills(const struct tally_layout *layout, const struct tally_record *record)
{
	struct tally_layout room;
	const struct tally_layout *shape = tally_sample_shape(layout, record, false, &room);
	struct tally_sample sample;

	sample.size = sizeof(sample);
	if (!shape)
		return false;
	if (layout->sample_type & ~KNOWN_FIELDS)
		return !tally_sample_decode(layout, record, layout->sample_type, &sample, NULL);
	return fill(shape, record, &sample) && sample.user_stack_dyn_size <= sample.user_stack_size;
}
