#include "parquet/sorted_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Two halves of `from` that are sorted become one in `to`. */
static void merge(const uint64_t *values, const uint32_t *from, uint32_t *to, uint32_t middle,
		  uint32_t count)
{
	uint32_t left = 0, right = middle;

	for (uint32_t i = 0; i < count; i++)
		to[i] =
		    right == count || (left < middle && values[from[left]] <= values[from[right]])
			? from[left++]
			: from[right++];
}

/* Sorts row numbers by their values, by `spare`; equal ones stay in their order. */
static void sort_rows(const uint64_t *values, uint32_t *rows, uint32_t *spare, uint32_t count)
{
	uint32_t middle = count / 2;
	bool sorted = true;

	for (uint32_t i = 1; i < count && sorted; i++)
		sorted = values[rows[i - 1]] <= values[rows[i]];
	if (sorted)
		return;
	sort_rows(values, rows, spare, middle);
	sort_rows(values, rows + middle, spare + middle, count - middle);
	merge(values, rows, spare, middle, count);
	memcpy(rows, spare, count * sizeof(*rows));
}

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
		sort_rows(chunks[order[i]].values, rows, spare, count);
	for (uint32_t i = 0; i < chunk_count && !result; i++) {
		for (uint32_t row = 0; row < count; row++)
			values[row] = chunks[i].values[rows[row]];
		memcpy(chunks[i].values, values, count * sizeof(*values));
	}
	free(rows);
	free(spare);
	free(values);
	return result;
}
