/* Lists of elements: equal elements are one number, and a group has each of its elements once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "parquet/chunk.h"
#include "parquet/element_list.h"

enum { FIELDS = 2, ELEMENTS = 5000 };

static int64_t number_of(struct element_list *list, uint64_t a, uint64_t b)
{
	const uint64_t values[FIELDS] = {a, b};

	return tally_element_list_number(list, values);
}

static void equal_elements_are_one(void **state)
{
	struct element_list list = {.field_count = FIELDS};

	(void)state;
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < ELEMENTS; i++)
			assert_int_equal(number_of(&list, i / 7, i % 7), i);
	/* One that is known to be another has the next number, and is not found. */
	assert_int_equal(tally_element_list_another(&list, (const uint64_t[FIELDS]){9, 99}),
			 ELEMENTS);
	assert_int_equal(number_of(&list, 9, 99), ELEMENTS + 1);
	assert_int_equal(number_of(&list, 0, 3), 3);
	tally_element_list_done(&list);
}

static void groups_have_their_elements_once(void **state)
{
	static const uint32_t lists[] = {3, 1, 3, 2};
	struct element_list list = {.field_count = FIELDS};
	struct parquet_chunk fields[FIELDS] = {{.type = PARQUET_U64}, {.type = PARQUET_U64}};

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(number_of(&list, i * 10, i * 100), i);
	/* Rows with three elements, none and one. */
	assert_int_equal(tally_element_list_add(&list, lists, 3), 0);
	assert_int_equal(tally_element_list_add(&list, NULL, 0), 0);
	assert_int_equal(tally_element_list_add(&list, lists + 3, 1), 0);
	assert_int_equal(tally_element_list_finish(&list, fields), 0);
	assert_int_equal(list.level_count, 5);
	/* One group of 8 numbers each, the lowest bit first: 0 1 1 0 0, and 1 1 1 0 1. */
	assert_int_equal(list.levels.size, 12);
	assert_memory_equal(list.levels.data, "\2\0\0\0\3\6\2\0\0\0\3\x17", 12);
	assert_int_equal(fields[0].count, 3);
	assert_int_equal(fields[0].values[0], 30);
	assert_int_equal(fields[0].values[1], 10);
	assert_int_equal(fields[1].values[2], 200);
	assert_int_equal(list.numbers[1], 1);
	assert_int_equal(list.numbers[2], 0);
	assert_int_equal(list.numbers[3], 2);
	tally_element_list_next(&list);
	/* The next group knows the elements, and has only its own. */
	for (unsigned i = 0; i < FIELDS; i++)
		parquet_chunk_clear(&fields[i]);
	assert_int_equal(number_of(&list, 10, 100), 1);
	assert_int_equal(tally_element_list_add(&list, lists + 1, 1), 0);
	assert_int_equal(tally_element_list_finish(&list, fields), 0);
	assert_int_equal(fields[0].count, 1);
	assert_int_equal(parquet_chunk_value(&fields[0], 0), 10);
	assert_int_equal(list.numbers[0], 0);
	for (unsigned i = 0; i < FIELDS; i++)
		free(fields[i].values);
	tally_element_list_done(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(equal_elements_are_one),
	    cmocka_unit_test(groups_have_their_elements_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
