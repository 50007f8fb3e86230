#include "wire/sample_read.h"

#include <errno.h>
#include <stddef.h>
#include "wire/sample_shape.h"
#include "wire/walk.h"

int tally_sample_read_fields(const struct tally_layout *layout, const struct tally_record *record,
			     size_t count, struct tally_sample *ret, size_t *ret_at)
{
	struct wire_walk walk = {
	    .mode = WIRE_DECODE,
	    .layout = layout,
	    .bytes = (uint8_t *)record->bytes,
	    .at = layout->variable_at,
	    .end = record->size,
	    .misc = record->misc,
	};
	int error = 0;

	memset((uint8_t *)ret + offsetof(struct tally_sample, read), 0,
	       sizeof(*ret) - offsetof(struct tally_sample, read));
	for (size_t i = 0; i < count && !error; i++)
		error =
		    tally_wire_field(&walk, &tally_wire_sample_rows.rows[layout->fields[i]], ret);
	*ret_at = walk.at;
	return error;
}

int tally_sample_read_rest(const struct tally_layout *layout, const struct tally_record *record,
			   uint64_t present, struct tally_sample *ret, size_t *ret_at)
{
	const struct wire_row *rows = tally_wire_sample_rows.rows;
	size_t count = layout->field_count, at = 0;
	struct tally_layout room;
	bool branches = false;
	int error = 0;

	while (count && !(rows[layout->fields[count - 1]].bit & present))
		count--;
	for (size_t i = 0; i < count; i++)
		branches |= rows[layout->fields[i]].bit == PERF_SAMPLE_BRANCH_STACK;
	if (branches)
		layout = tally_sample_shape(layout, record, false, &room);
	error = layout ? tally_sample_read_fields(layout, record, count, ret, &at) : -EBADMSG;
	if (ret_at)
		*ret_at = at;
	return error;
}
