/* Sorting by the upper 32 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* After the headers it needs. */
#include <cmocka.h>
#include "dwarf/address_order.h"

#define MOST 5000U

/* The lower halves are the numbers of the elements, so this is the order when equal ones stay in
 * theirs. */
static int compare(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return *one < *other ? -1 : *one > *other;
}

static void assert_sorted(size_t count, uint64_t mask)
{
	static uint64_t list[MOST], spare[MOST], expected[MOST];
	uint64_t random = 42;

	for (size_t i = 0; i < count; i++) {
		random = random * 6364136223846793005U + 1442695040888963407U;
		expected[i] = list[i] = (random >> 32 & mask) << 32 | i;
	}
	qsort(expected, count, sizeof(*expected), compare);
	tally_address_sort(list, spare, count);
	assert_memory_equal(list, expected, count * sizeof(*list));
}

static void test_the_order_is_that_of_comparing(void **state)
{
	static const size_t counts[] = {1, 2, 47, 48, 49, 50, 1000, MOST};
	/* all digits; one of them; the same in all but a few; all equal */
	static const uint64_t masks[] = {UINT32_MAX, 0x7ff, 0x3ff800, 0xffc00000, 0x80000001, 3, 0};

	(void)state;
	tally_address_sort(NULL, NULL, 0);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		for (size_t k = 0; k < sizeof(masks) / sizeof(*masks); k++)
			assert_sorted(counts[i], masks[k]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_the_order_is_that_of_comparing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
