#include "types/type_table.h"

#include <errno.h>
#include <stdlib.h>
#include "base/buf.h"
#include "base/table.h"
#include "types/type_shape.h"

/* Bytes of a number's places in the tables. */
#define NUMBER_COST 128

static int64_t intern(struct type_table *table, struct type_reader *reader, type_ref type,
		      uint64_t size)
{
	struct tally_buf text = {0};
	int64_t number = -EFBIG;

	tally_type_text(reader, type, &text);
	tally_buf_byte(&text, 0);
	tally_buf_add(&text, &size, sizeof(size));
	if (text.failed)
		number = -ENOMEM;
	else if (budget_take(&reader->budget, text.size + NUMBER_COST))
		number = tally_strings_intern(&table->names, (const char *)text.data, text.size);
	tally_buf_done(&text);
	return number;
}

int64_t tally_type_table_put(struct type_table *table, struct type_reader *reader, type_ref type)
{
	uint64_t *known = tally_map_find(&table->by_ref, type), size = 0;
	int64_t number;
	bool added;

	if (known)
		return (int64_t)*known - 1;
	(void)tally_type_size(reader, type, &size);
	number = intern(table, reader, type, size);
	if (number < 0)
		return number;
	if ((size_t)number == table->count) {
		if (!array_next(&table->types, &table->room, table->count, 64,
				sizeof(*table->types)))
			return -ENOMEM;
		table->types[table->count++] = (struct table_type){type, size};
	}
	if ((size_t)number > table->count)
		return -ENOMEM; /* an earlier one had no room */
	known = tally_map_put(&table->by_ref, type, &added);
	if (!known)
		return -ENOMEM;
	*known = (uint64_t)number + 1;
	return number;
}

void tally_type_table_done(struct type_table *table)
{
	tally_strings_done(&table->names);
	tally_map_done(&table->by_ref);
	free(table->types);
	*table = (struct type_table){0};
}
