/* The table of stacks of a fleet: a row for each stack that samples have, with its frames. */
#ifndef TALLY_FLEET_PARQUET_STACKS_H
#define TALLY_FLEET_PARQUET_STACKS_H

#include "convert/stack_table.h"
#include "fleet/parquet_file.h"

extern const struct parquet_table tally_parquet_stacks_table;

/* Stacks by pairs of the table, which is made, with the number (tally_parquet_id()) of each pair.
 * 0, -ECANCELED, -ENOMEM, or -errno of writing. */
int tally_parquet_stacks_write(struct convert *convert, const struct stack_table *stacks,
			       const uint64_t *ids, struct parquet_file *file);

#endif
