#include "session/batch_sample.h"

#include <errno.h>
#include <stdlib.h>
#include "base/option_struct.h"
#include "resolve/locate.h"
#include "resolve/resolve.h"

struct batch_row {
	struct tally_record record;
	struct tally_resolved sample;
};

struct tally_batch_rows {
	struct tally_data *data;
	struct tally_resolver *resolver;
	struct batch_row rows[];
};

struct tally_batch_rows *tally_batch_rows_new(struct tally_data *data, uint32_t rows)
{
	struct tally_batch_rows *made = calloc(1, sizeof(*made) + rows * sizeof(*made->rows));

	if (made)
		made->data = data;
	return made;
}

void tally_batch_rows_free(struct tally_batch_rows *rows)
{
	free(rows);
}

void tally_batch_rows_put(struct tally_batch_rows *rows, uint32_t row,
			  const struct tally_record *record, const struct tally_resolved *sample,
			  struct tally_resolver *resolver)
{
	rows->rows[row].record = record ? *record : (struct tally_record){0};
	rows->rows[row].sample = *sample;
	rows->resolver = resolver;
}

static const struct batch_row *find_row(const struct tally_batch *batch, uint32_t row)
{
	return batch->rows && row < batch->count && batch->rows->rows[row].record.bytes
		   ? &batch->rows->rows[row]
		   : NULL;
}

uint8_t tally_batch_cpumode(const struct tally_batch *batch, uint32_t row)
{
	return batch->rows->rows[row].sample.cpumode;
}

uint32_t tally_batch_frame(const struct tally_batch *batch, uint32_t row, uint8_t cpumode,
			   uint64_t addr)
{
	return tally_resolver_frame(batch->rows->resolver, &batch->rows->rows[row].sample, cpumode,
				    addr);
}

int tally_batch_source(const struct tally_batch *batch, uint32_t row, uint8_t cpumode,
		       uint64_t addr, struct source_numbers *ret)
{
	struct tally_resolved sample = batch->rows->rows[row].sample;

	sample.cpumode = cpumode;
	sample.sample.ip = addr;
	return tally_resolver_source(batch->rows->resolver, &sample, ret);
}

int tally_batch_location(const struct tally_batch *batch, uint32_t row, uint8_t cpumode,
			 uint64_t addr, struct tally_location *ret)
{
	return tally_resolver_location(batch->rows->resolver, &batch->rows->rows[row].sample,
				       cpumode, addr, ret);
}

int tally_batch_locate(const struct tally_batch *batch, uint32_t row, uint8_t cpumode,
		       uint64_t addr, struct tally_located *ret)
{
	return tally_resolver_locate(batch->rows->resolver, &batch->rows->rows[row].sample, cpumode,
				     addr, ret);
}

int tally_batch_sample(const struct tally_batch *batch, uint32_t row, struct tally_sample *ret)
{
	const struct batch_row *found = find_row(batch, row);
	struct tally_sample sample = {.size = sizeof(sample)};
	int event, result;

	if (!found)
		return -EINVAL;
	/* A row for a counter that moved is of the counter's event, its record of the leader's. */
	event = tally_data_event_of(batch->rows->data, &found->record);
	if (event < 0)
		return -EIO;
	result = tally_sample_decode(&tally_data_event(batch->rows->data, (size_t)event)->layout,
				     &found->record, UINT64_MAX, &sample, NULL);
	if (result < 0)
		return -EIO;
	return tally_result_copy(ret, sizeof(sample), &sample);
}
