/* The stacks of a fleet: numbers that are equal on every host, and the table of their frames. */
#ifndef TALLY_FORMATS_PARQUET_STACKS_H
#define TALLY_FORMATS_PARQUET_STACKS_H

#include "convert/code_places.h"
#include "formats/parquet_file.h"

extern const struct parquet_table tally_parquet_stacks_table;

struct parquet_stacks {
	const struct stack_table *stacks;
	struct code_places places;
	uint64_t *ids;       /* by node, of samples and of calls; 0: not known yet */
	bool *sampled;       /* by node: it is a sample's stack */
	uint64_t *image_ids; /* by image of the session; 0: not met */
	uint32_t image_room;
	uint32_t *path;                  /* places of a stack, innermost first */
	struct code_position *positions; /* where they begin */
	uint32_t depth, path_room;
	uint64_t outer; /* the number of what is behind the path */
};

/* 0 or -ENOMEM; to be released in any case. */
int tally_parquet_stacks_init(struct parquet_stacks *parquet, struct convert *convert,
			      const struct stack_table *stacks);
void tally_parquet_stacks_done(struct parquet_stacks *parquet);
/* The number of a sample's stack: a hash of its frames, by build-id and place in the file; of code
 * that has no file, by its name.  0 or -ENOMEM. */
int tally_parquet_stack_id(struct parquet_stacks *parquet, uint32_t node, uint64_t *ret);
/* A row for each stack that has a number.  0, -ECANCELED, -ENOMEM, or -errno of writing. */
int tally_parquet_stacks_write(struct parquet_stacks *parquet, struct parquet_file *file);

#endif
