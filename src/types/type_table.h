/* Types by number: those of equal names and sizes are one, though each unit of debug information
 * has an entry of its own. */
#ifndef TALLY_TYPES_TYPE_TABLE_H
#define TALLY_TYPES_TYPE_TABLE_H

#include "types/type_reader.h"

struct table_type {
	type_ref type; /* of the first one that was met */
	uint64_t size;
};

struct type_table {                 /* all zero is empty and valid */
	struct tally_strings names; /* with the sizes behind their NUL */
	struct table_type *types;   /* by number */
	size_t count, room;
	struct tally_map by_ref; /* type_ref -> number + 1 */
};

/* The number of a type; -ENOMEM; -EFBIG. */
int64_t tally_type_table_put(struct type_table *table, struct type_reader *reader, type_ref type);
void tally_type_table_done(struct type_table *table);

#endif
