/* Columns of the page, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>
#include "page/page_columns.h"

struct row {
	uint64_t time;
	uint32_t node;
	uint8_t kind;
};

/* The container's index, and where its columns begin. */
static const char *index_of(const struct tally_buf *buf, uint32_t *size)
{
	memcpy(size, buf->data, sizeof(*size));
	assert_true(*size <= buf->size - 4);
	return (const char *)buf->data + 4;
}

static void expect_bytes(const struct tally_buf *buf, size_t offset, size_t size, const void *bytes,
			 size_t count)
{
	uint8_t plain[256];
	uLongf length = sizeof(plain);
	uint32_t index;

	index_of(buf, &index);
	assert_int_equal(uncompress(plain, &length, buf->data + 4 + index + offset, size), Z_OK);
	assert_int_equal(length, count);
	assert_memory_equal(plain, bytes, count);
}

static void numbers_have_the_coding_that_fits_them(void **state)
{
	static const struct row rows[] = {
	    {5, 300, 7}, {4, 1, 7}, {UINT64_C(1) << 40, UINT32_MAX, 7}};
	struct page_columns columns = {.count = 0};
	struct tally_buf buf = {0};
	const char *index;
	uint32_t size;

	(void)state;
	tally_page_columns_add(&columns, "a.time", PAGE_F64, PAGE_RISING,
			       PAGE_VALUES(rows, time, 3));
	tally_page_columns_add(&columns, "a.node", PAGE_U32, PAGE_ANY, PAGE_VALUES(rows, node, 3));
	tally_page_columns_add(&columns, "a.kind", PAGE_U8, PAGE_ANY, PAGE_VALUES(rows, kind, 3));
	tally_page_columns_add(&columns, "b.none", PAGE_U8, PAGE_ANY, PAGE_VALUES(rows, kind, 0));
	assert_int_equal(tally_page_columns_write(&columns, &buf), 0);
	assert_int_equal(columns.count, 3); /* an empty table is left out */
	index = index_of(&buf, &size);
	assert_non_null(memmem(index, size,
			       "{\"columns\":{\"a.time\":{\"type\":\"f64\",\"count\":3,"
			       "\"coding\":\"delta\",\"offset\":0,",
			       strlen("{\"columns\":{\"a.time\":{\"type\":\"f64\",\"count\":3,"
				      "\"coding\":\"delta\",\"offset\":0,")));
	assert_non_null(memmem(index, size, "\"coding\":\"varint\"", 17));
	assert_non_null(memmem(index, size, "\"coding\":\"constant\"", 19));
	/* 5, -1, 2^40 - 4 as zigzag: 10, 1, 2^41 - 8. */
	expect_bytes(&buf, 0, columns.list[0].packed.size, "\x0a\x01\xf8\xff\xff\xff\xff\x3f", 8);
	expect_bytes(&buf, columns.list[0].packed.size, columns.list[1].packed.size,
		     "\xac\x02\x01\xff\xff\xff\xff\x0f", 8);
	expect_bytes(&buf, columns.list[0].packed.size + columns.list[1].packed.size,
		     columns.list[2].packed.size, "\x07", 1);
	tally_page_columns_done(&columns);
	tally_buf_done(&buf);
}

static void equal_values_in_a_row_are_a_run(void **state)
{
	static const uint32_t values[] = {7, 7, 7, 5, 300, 300};
	struct page_columns columns = {.count = 0};
	struct page_values list = {
	    .list = values, .stride = sizeof(*values), .count = 6, .width = sizeof(*values)};
	struct tally_buf buf = {0};
	const char *index;
	uint32_t size;

	(void)state;
	tally_page_columns_add(&columns, "a.b", PAGE_U32, PAGE_RUNS, list);
	assert_int_equal(tally_page_columns_write(&columns, &buf), 0);
	index = index_of(&buf, &size);
	assert_non_null(memmem(index, size, "\"count\":6,\"coding\":\"runs\"", 25));
	/* Three of 7, one that is 2 less, two that are 295 more. */
	expect_bytes(&buf, 0, columns.list[0].packed.size, "\x0e\x03\x03\x01\xce\x04\x02", 7);
	tally_page_columns_done(&columns);
	tally_buf_done(&buf);
}

static void differences_wrap_like_the_numbers(void **state)
{
	static const uint64_t values[] = {UINT64_MAX, 0, UINT64_MAX};
	struct page_columns columns = {.count = 0};
	struct page_values list = {
	    .list = values, .stride = sizeof(*values), .count = 3, .width = sizeof(*values)};
	struct tally_buf buf = {0};

	(void)state;
	tally_page_columns_add(&columns, "a.b", PAGE_F64, PAGE_RISING, list);
	assert_int_equal(tally_page_columns_write(&columns, &buf), 0);
	/* -1, 1, -1 */
	expect_bytes(&buf, 0, columns.list[0].packed.size, "\x01\x02\x01", 3);
	tally_page_columns_done(&columns);
	tally_buf_done(&buf);
}

static void products_of_another_column_are_its_constant(void **state)
{
	static const struct row products[] = {{600, 2, 0}, {300, 1, 0}, {0, 0, 0}};
	static const struct row others[] = {{600, 2, 0}, {301, 1, 0}, {0, 0, 0}};
	static const char *const expected[] = {"\"coding\":\"constant\",\"times\":\"a.node\"",
					       "\"coding\":\"varint\",\"offset\""};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct row *rows = i ? others : products;
		struct page_columns columns = {.count = 0};
		struct tally_buf buf = {0};
		const char *index;
		uint32_t size;

		tally_page_columns_product(&columns, "a.time", PAGE_F64, PAGE_VALUES(rows, time, 3),
					   "a.node", PAGE_VALUES(rows, node, 3));
		tally_page_columns_add(&columns, "a.node", PAGE_U32, PAGE_COUNTS,
				       PAGE_VALUES(rows, node, 3));
		assert_int_equal(tally_page_columns_write(&columns, &buf), 0);
		index = index_of(&buf, &size);
		assert_non_null(memmem(index, size, expected[i], strlen(expected[i])));
		expect_bytes(&buf, 0, columns.list[0].packed.size,
			     i ? "\xd8\x04\xad\x02\0" : "\xac\x02", i ? 5 : 2);
		expect_bytes(&buf, columns.list[0].packed.size, columns.list[1].packed.size,
			     "\x02\x01\0", 3);
		tally_page_columns_done(&columns);
		tally_buf_done(&buf);
	}
}

static void texts_end_with_a_nul_each(void **state)
{
	struct page_columns columns = {.count = 0};
	struct tally_strings strings = {0};
	struct tally_buf buf = {0};

	(void)state;
	assert_int_equal(tally_strings_intern(&strings, "", 0), 0);
	assert_int_equal(tally_strings_intern(&strings, "</script>", 9), 1);
	assert_int_equal(tally_strings_intern(&strings, "\xe6\xbc\xa2", 3), 2);
	tally_page_columns_texts(&columns, "string.text", &strings);
	assert_int_equal(tally_page_columns_write(&columns, &buf), 0);
	expect_bytes(&buf, 0, columns.list[0].packed.size, "\0</script>\0\xe6\xbc\xa2\0", 15);
	tally_page_columns_done(&columns);
	tally_strings_done(&strings);
	tally_buf_done(&buf);
}

static void nothing_is_a_container_too(void **state)
{
	struct page_columns columns = {.count = 0};
	struct tally_buf buf = {0};
	uint32_t size;

	(void)state;
	assert_int_equal(tally_page_columns_write(&columns, &buf), 0);
	assert_memory_equal(index_of(&buf, &size), "{\"columns\":{}}", 14);
	assert_int_equal(size, 14);
	tally_buf_done(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers_have_the_coding_that_fits_them),
	    cmocka_unit_test(equal_values_in_a_row_are_a_run),
	    cmocka_unit_test(differences_wrap_like_the_numbers),
	    cmocka_unit_test(products_of_another_column_are_its_constant),
	    cmocka_unit_test(texts_end_with_a_nul_each),
	    cmocka_unit_test(nothing_is_a_container_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
