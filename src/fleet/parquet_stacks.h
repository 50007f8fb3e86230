/* The table of stacks of a fleet: a row for each stack that samples have, with its frames. */
#ifndef TALLY_FLEET_PARQUET_STACKS_H
#define TALLY_FLEET_PARQUET_STACKS_H

#include "convert/stack_table.h"
#include "fleet/parquet_file.h"

/* Its plain columns: stack_id, and how many frames of the list have a name, by which views find the
 * best of a stack's rows without reading the frames of all. */
#define STACK_COLUMNS 2
extern const struct parquet_table tally_parquet_stacks_table;

/* The stacks of a table, which is made.  `ids`: by node, the number (tally_parquet_id()) of the
 * stack that ends there; 0: samples have none.  0, -ECANCELED, -ENOMEM, or -errno of writing. */
int tally_parquet_stacks_write(struct convert *convert, const struct stack_table *stacks,
			       const uint64_t *ids, struct parquet_file *file);

#endif
