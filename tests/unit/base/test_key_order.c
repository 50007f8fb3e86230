#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/key_order.h"

static int by_key(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	if (left[0] != right[0])
		return left[0] < right[0] ? -1 : 1;
	return left[1] < right[1] ? -1 : 1;
}

static void order_is_that_of_a_stable_sort(void **state)
{
	enum { COUNT = 5000 };
	static uint64_t keys[COUNT], pairs[COUNT][2];
	uint32_t *order;
	uint64_t random = 12345;

	(void)state;
	for (int round = 0; round < 4; round++) {
		for (size_t i = 0; i < COUNT; i++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			keys[i] = round == 0   ? random
				  : round == 1 ? random >> 54
				  : round == 2 ? 0xffffffff81000000ULL + (random >> 40)
					       : (uint64_t)COUNT - i;
			pairs[i][0] = keys[i];
			pairs[i][1] = i;
		}
		qsort(pairs, COUNT, sizeof(pairs[0]), by_key);
		assert_int_equal(tally_key_order(keys, COUNT, &order), 0);
		assert_non_null(order);
		for (size_t i = 0; i < COUNT; i++)
			assert_int_equal(order[i], pairs[i][1]);
		free(order);
	}
	for (size_t i = 0; i < COUNT; i++)
		keys[i] = i / 3;
	assert_int_equal(tally_key_order(keys, COUNT, &order), 0);
	assert_null(order);
	assert_int_equal(tally_key_order(keys, 0, &order), 0);
	assert_null(order);
}

/* Rows sorted by a second column, then by a first one. */
static void order_by_several_keys_is_kept(void **state)
{
	static const uint64_t first[] = {2, 1, 2, 1, 1}, second[] = {1ULL << 40, 9, 3, 9, 4};
	static const uint32_t wanted[] = {4, 1, 3, 2, 0};
	uint32_t order[] = {0, 1, 2, 3, 4}, spare[5];

	(void)state;
	tally_key_sort(second, order, spare, 5);
	tally_key_sort(first, order, spare, 5);
	assert_memory_equal(order, wanted, sizeof(order));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(order_is_that_of_a_stable_sort),
	    cmocka_unit_test(order_by_several_keys_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
