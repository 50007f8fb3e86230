#include "session/batch_sample.h"

#include <errno.h>
#include <stdlib.h>
#include "base/option_struct.h"

struct tally_batch_rows {
	struct tally_data *data;
	struct tally_record records[];
};

struct tally_batch_rows *tally_batch_rows_new(struct tally_data *data, uint32_t rows)
{
	struct tally_batch_rows *made = calloc(1, sizeof(*made) + rows * sizeof(*made->records));

	if (made)
		made->data = data;
	return made;
}

void tally_batch_rows_free(struct tally_batch_rows *rows)
{
	free(rows);
}

void tally_batch_rows_put(struct tally_batch_rows *rows, uint32_t row,
			  const struct tally_record *record)
{
	rows->records[row] = record ? *record : (struct tally_record){0};
}

int tally_batch_sample(const struct tally_batch *batch, uint32_t row, struct tally_sample *ret)
{
	const struct tally_record *record;
	struct tally_sample sample = {.size = sizeof(sample)};
	int event, result;

	if (!batch->rows || row >= batch->count || !batch->rows->records[row].bytes)
		return -EINVAL;
	record = &batch->rows->records[row];
	/* A row for a counter that moved is of the counter's event, its record of the leader's. */
	event = tally_data_event_of(batch->rows->data, record);
	if (event < 0)
		return -EIO;
	result = tally_sample_decode(&tally_data_event(batch->rows->data, (size_t)event)->layout,
				     record, UINT64_MAX, &sample, NULL);
	if (result < 0)
		return -EIO;
	return tally_result_copy(ret, sizeof(sample), &sample);
}
