/* The records of a batch's rows, for sinks that need all fields of a sample. */
#ifndef TALLY_SESSION_BATCH_SAMPLE_H
#define TALLY_SESSION_BATCH_SAMPLE_H

#include <tally/batch.h>
#include <tally/data.h>

/* NULL: out of memory. */
struct tally_batch_rows *tally_batch_rows_new(struct tally_data *data, uint32_t rows);
void tally_batch_rows_free(struct tally_batch_rows *rows);
void tally_batch_rows_put(struct tally_batch_rows *rows, uint32_t row,
			  const struct tally_record *record);

#endif
