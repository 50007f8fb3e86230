#include "parquet/sorted_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/key_order.h"

int tally_parquet_sort_rows(struct parquet_chunk *chunks, uint32_t chunk_count,
			    const uint8_t *order, size_t order_count)
{
	uint32_t count = chunks[0].count;
	uint32_t *rows = calloc(count + 1ULL, sizeof(*rows));
	uint32_t *spare = calloc(count + 1ULL, sizeof(*spare));
	uint64_t *values = calloc(count + 1ULL, sizeof(*values));
	int result = rows && spare && values ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && !result; i++)
		rows[i] = i;
	for (size_t i = order_count; i-- && !result;)
		if (chunks[order[i]].varies)
			tally_key_sort(chunks[order[i]].values, rows, spare, count);
	for (uint32_t i = 0; i < chunk_count && !result; i++) {
		if (!chunks[i].varies)
			continue;
		for (uint32_t row = 0; row < count; row++)
			values[row] = chunks[i].values[rows[row]];
		memcpy(chunks[i].values, values, count * sizeof(*values));
	}
	free(rows);
	free(spare);
	free(values);
	return result;
}
