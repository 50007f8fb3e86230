#include "wire/layout.h"

/* The kernel writes these first and in this order; they are all one word. */
const struct wire_fixed_field tally_wire_fixed[TALLY_FIXED_COUNT] = {
    {PERF_SAMPLE_IDENTIFIER, TALLY_FIXED_IDENTIFIER},
    {PERF_SAMPLE_IP, TALLY_FIXED_IP},
    {PERF_SAMPLE_TID, TALLY_FIXED_TID},
    {PERF_SAMPLE_TIME, TALLY_FIXED_TIME},
    {PERF_SAMPLE_ADDR, TALLY_FIXED_ADDR},
    {PERF_SAMPLE_ID, TALLY_FIXED_ID},
    {PERF_SAMPLE_STREAM_ID, TALLY_FIXED_STREAM_ID},
    {PERF_SAMPLE_CPU, TALLY_FIXED_CPU},
    {PERF_SAMPLE_PERIOD, TALLY_FIXED_PERIOD},
};

/* The trailer's order, first to last, which is not that of samples: IDENTIFIER is the last word, so
 * that it can be found from the record's end.  Source: struct sample_id in perf_event.h. */
static const struct wire_fixed_field trailer[] = {
    {PERF_SAMPLE_TID, TALLY_FIXED_TID}, {PERF_SAMPLE_TIME, TALLY_FIXED_TIME},
    {PERF_SAMPLE_ID, TALLY_FIXED_ID},   {PERF_SAMPLE_STREAM_ID, TALLY_FIXED_STREAM_ID},
    {PERF_SAMPLE_CPU, TALLY_FIXED_CPU}, {PERF_SAMPLE_IDENTIFIER, TALLY_FIXED_IDENTIFIER},
};
#define TRAILER_COUNT (sizeof(trailer) / sizeof(trailer[0]))

void tally_layout_init(struct tally_layout *layout, const struct tally_attr *attr)
{
	int16_t at = 8;

	*layout = (struct tally_layout){
	    .sample_type = attr->sample_type,
	    .read_format = attr->read_format,
	    .branch_sample_type = attr->branch_sample_type,
	    .sample_regs_user = attr->sample_regs_user,
	    .sample_regs_intr = attr->sample_regs_intr,
	    .sample_id_all = attr->sample_id_all,
	};
	for (size_t i = 0; i < TALLY_FIXED_COUNT; i++) {
		layout->at[i] = -1;
		layout->trailer_at[i] = -1;
	}
	for (size_t i = 0; i < TALLY_FIXED_COUNT; i++) {
		if (!(attr->sample_type & tally_wire_fixed[i].bit))
			continue;
		layout->at[tally_wire_fixed[i].field] = at;
		at = (int16_t)(at + 8);
	}
	layout->variable_at = (uint16_t)at;
	if (!attr->sample_id_all)
		return;
	for (size_t i = TRAILER_COUNT; i-- > 0;) {
		if (!(attr->sample_type & trailer[i].bit))
			continue;
		layout->trailer_size = (uint16_t)(layout->trailer_size + 8);
		layout->trailer_at[trailer[i].field] = (int16_t)layout->trailer_size;
	}
}
