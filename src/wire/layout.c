
#include "wire/sample_read.h"
#include "wire/walk.h"

/* The field at a fixed place that belongs to a bit of sample_type; TALLY_FIXED_COUNT: none. */
static enum tally_fixed fixed_of(uint64_t bit)
{
	static const uint32_t bits[TALLY_FIXED_COUNT] = {
	    [TALLY_FIXED_IDENTIFIER] = PERF_SAMPLE_IDENTIFIER,
	    [TALLY_FIXED_IP] = PERF_SAMPLE_IP,
	    [TALLY_FIXED_TID] = PERF_SAMPLE_TID,
	    [TALLY_FIXED_TIME] = PERF_SAMPLE_TIME,
	    [TALLY_FIXED_ADDR] = PERF_SAMPLE_ADDR,
	    [TALLY_FIXED_ID] = PERF_SAMPLE_ID,
	    [TALLY_FIXED_STREAM_ID] = PERF_SAMPLE_STREAM_ID,
	    [TALLY_FIXED_CPU] = PERF_SAMPLE_CPU,
	    [TALLY_FIXED_PERIOD] = PERF_SAMPLE_PERIOD,
	};
	unsigned field = 0;

	while (field < TALLY_FIXED_COUNT && bits[field] != bit)
		field++;
	return field;
}

/* Two fields of half a word share one bit, and the offset of the first. */
static void lay_out_samples(struct tally_layout *layout)
{
	const struct wire_rows rows = tally_wire_sample_rows;
	uint16_t at = 8;

	for (size_t i = 0; i < rows.count; i++) {
		uint64_t bit = rows.rows[i].bit;
		enum tally_fixed field = fixed_of(bit);

		if (!(layout->sample_type & bit))
			continue;
		if (field == TALLY_FIXED_COUNT) {
			layout->fields[layout->field_count++] = (uint8_t)i;
		} else if (layout->at[field] < 0) {
			layout->at[field] = (int16_t)at;
			at = (uint16_t)(at + 8);
		}
	}
	layout->variable_at = at;
	/* READ, whose size varies, is before CALLCHAIN, which is before RAW. */
	layout->direct = SAMPLE_FIXED;
	if (!(layout->sample_type & PERF_SAMPLE_READ))
		layout->direct |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW;
}

/* Trailers are read from the record's end, so the last field comes first. */
static void lay_out_trailers(struct tally_layout *layout)
{
	const struct wire_rows rows = tally_wire_trailer_rows;

	for (size_t i = rows.count; i-- > 0;) {
		uint64_t bit = rows.rows[i].bit;
		enum tally_fixed field = fixed_of(bit);

		if (!(layout->sample_type & bit) || layout->trailer_at[field] >= 0)
			continue;
		layout->trailer_size = (uint16_t)(layout->trailer_size + 8);
		layout->trailer_at[field] = (int16_t)layout->trailer_size;
	}
}

void tally_layout_init(struct tally_layout *layout, const struct tally_attr *attr)
{
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
	lay_out_samples(layout);
	if (attr->sample_id_all)
		lay_out_trailers(layout);
}
