/* The order of a group's rows: by several columns, equal rows as they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "parquet/sorted_rows.h"

enum { ROWS = 5000, COLUMNS = 4 };

static void rows_are_sorted_whole(void **state)
{
	static const uint8_t order[] = {1, 3, 0};
	struct parquet_chunk chunks[COLUMNS] = {0};
	uint64_t random = 1, sum = 0;

	(void)state;
	for (unsigned row = 0; row < ROWS; row++) {
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		assert_int_equal(parquet_chunk_add(&chunks[0], random >> 60), 0);
		assert_int_equal(parquet_chunk_add(&chunks[1], random >> 40 & 31), 0);
		/* What the row had, and its place. */
		assert_int_equal(parquet_chunk_add(&chunks[2], (random >> 40 & 31) << 40 |
								   random >> 60 << 32 | row),
				 0);
		assert_int_equal(parquet_chunk_add(&chunks[3], 7), 0);
	}
	assert_int_equal(tally_parquet_sort_rows(chunks, COLUMNS, order, sizeof(order)), 0);
	/* A column of one value needs no room, and orders nothing. */
	assert_int_equal(chunks[3].count, ROWS);
	assert_null(chunks[3].values);
	assert_int_equal(parquet_chunk_value(&chunks[3], ROWS - 1), 7);
	for (unsigned row = 0; row < ROWS; row++) {
		assert_int_equal(chunks[2].values[row] >> 32,
				 chunks[1].values[row] << 8 | chunks[0].values[row]);
		if (row)
			assert_true(chunks[2].values[row - 1] < chunks[2].values[row]);
		sum += chunks[2].values[row] & UINT32_MAX;
	}
	assert_int_equal(sum, (uint64_t)ROWS * (ROWS - 1) / 2);
	for (unsigned i = 0; i < COLUMNS; i++)
		free(chunks[i].values);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_are_sorted_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
