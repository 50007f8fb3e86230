/* What the encoders write is read back; Snappy's examples; and damage is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "parquet/encodings.h"
#include "parquet/parquet_read.h"

static void runs_are_read_back(void **state)
{
	uint32_t values[1000], read[2000];

	(void)state;
	for (unsigned bits = 1; bits <= 20; bits++) {
		struct tally_buf buf = {0};

		for (uint32_t i = 0; i < 1000; i++)
			values[i] = (i / 50 % 2 ? i * 2654435761U : i / 50) & ((1U << bits) - 1);
		tally_parquet_runs(values, 1000, bits, &buf);
		assert_true(tally_parquet_read_runs(buf.data, buf.size, bits, 1000, read));
		assert_memory_equal(values, read, sizeof(values));
		assert_false(tally_parquet_read_runs(buf.data, buf.size - 1, bits, 1000, read));
		assert_false(tally_parquet_read_runs(buf.data, buf.size, bits, 2000, read));
		tally_buf_done(&buf);
	}
	assert_false(tally_parquet_read_runs((const uint8_t *)"\0", 1, 1, 1, read));
	assert_false(tally_parquet_read_runs((const uint8_t *)"\2", 1, 33, 1, read));
}

static void differences_are_read_back(void **state)
{
	uint64_t values[777], read[777];
	size_t taken;

	(void)state;
	for (unsigned narrow = 0; narrow < 2; narrow++) {
		struct tally_buf buf = {0};

		for (uint64_t i = 0; i < 777; i++) {
			values[i] = i * 1000003 + (i % 3 ? 0 : i * 0x9e3779b97f4a7c15ULL);
			if (narrow)
				values[i] = (uint32_t)values[i];
		}
		tally_parquet_deltas(values, 777, narrow, &buf);
		assert_true(
		    tally_parquet_read_deltas(buf.data, buf.size, narrow, 777, read, &taken));
		assert_memory_equal(values, read, sizeof(values));
		assert_int_equal(taken, buf.size);
		assert_false(
		    tally_parquet_read_deltas(buf.data, buf.size / 2, narrow, 777, read, &taken));
		assert_false(
		    tally_parquet_read_deltas(buf.data, buf.size, narrow, 778, read, &taken));
		tally_buf_done(&buf);
	}
}

static bool expands(const char *bytes, size_t size, const char *expected)
{
	uint8_t made[64] = {0};
	size_t length = strlen(expected);

	return tally_parquet_read_snappy((const uint8_t *)bytes, size, made, length) &&
	       !memcmp(made, expected, length);
}

static void snappy_is_read(void **state)
{
	(void)state;
	assert_true(expands("\x05\x10hello", 7, "hello"));
	/* "ab", then ten bytes from two back, by an offset of one, two and four bytes */
	assert_true(expands("\x0c\x04"
			    "ab"
			    "\x19\x02",
			    6, "abababababab"));
	assert_true(expands("\x0c\x04"
			    "ab"
			    "\x26\x02\x00",
			    7, "abababababab"));
	assert_true(expands("\x0c\x04"
			    "ab"
			    "\x27\x02\x00\x00\x00",
			    9, "abababababab"));
	/* a long run of plain bytes has its length behind the tag */
	assert_true(expands("\x05\xf0\x04hello", 8, "hello"));
	/* further back than there is, more than was said, and cut short */
	assert_false(expands("\x0c\x04"
			     "ab"
			     "\x19\x03",
			     6, "abababababab"));
	assert_false(expands("\x0b\x04"
			     "ab"
			     "\x19\x02",
			     6, "abababababa"));
	assert_false(expands("\x05\x10hell", 6, "hello"));
	assert_false(expands("\xff\xff\xff\xff\xff\xff", 6, "hello"));
}

static void what_is_no_file_is_refused(void **state)
{
	struct parquet_reader reader;
	const char *why = NULL;

	(void)state;
	assert_int_not_equal(tally_parquet_open(&reader, (const uint8_t *)"PAR1", 4, &why), 0);
	assert_non_null(why);
	tally_parquet_close(&reader);
	assert_int_not_equal(
	    tally_parquet_open(&reader, (const uint8_t *)"PAR1\xff\xff\xff\xffPAR1", 12, &why), 0);
	tally_parquet_close(&reader);
	assert_int_not_equal(
	    tally_parquet_open(&reader, (const uint8_t *)"PAR1\0\1\0\0\0PAR1", 13, &why), 0);
	tally_parquet_close(&reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(runs_are_read_back),
	    cmocka_unit_test(differences_are_read_back),
	    cmocka_unit_test(snappy_is_read),
	    cmocka_unit_test(what_is_no_file_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
