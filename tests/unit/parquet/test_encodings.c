/* The encodings of Parquet's values: the examples of its Encodings.md, and numbers read back by a
 * decoder that follows the same page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "parquet/encodings.h"

static uint64_t varint(const uint8_t **at)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		value |= (uint64_t)(**at & 0x7f) << shift;
		if (!(*(*at)++ & 0x80))
			return value;
	}
}

static int64_t zigzag(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static uint64_t packed(const uint8_t *bytes, size_t number, unsigned bits)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bits; i++) {
		size_t bit = number * bits + i;

		value |= (uint64_t)(bytes[bit / 8] >> (bit % 8) & 1) << i;
	}
	return value;
}

static void read_runs(const struct tally_buf *from, unsigned bits, uint32_t *ret, size_t count)
{
	const uint8_t *at = from->data;
	size_t made = 0;

	if (!from->size) {
		assert_int_equal(count, 0);
		return;
	}
	while (made < count) {
		uint64_t header = varint(&at),
			 numbers = header & 1 ? (header >> 1) * 8 : header >> 1;

		for (uint64_t i = 0; i < numbers; i++) {
			uint32_t value = 0;

			if (header & 1)
				value = (uint32_t)packed(at, i, bits);
			else
				for (unsigned byte = 0; byte * 8 < bits; byte++)
					value |= (uint32_t)at[byte] << byte * 8;
			if (made < count)
				ret[made++] = value;
		}
		at += header & 1 ? numbers * bits / 8 : (bits + 7) / 8;
	}
	assert_ptr_equal(at, from->data + from->size);
}

static void read_deltas(const struct tally_buf *from, int narrow, uint64_t *ret, size_t count)
{
	const uint8_t *at = from->data;
	uint64_t value;

	assert_int_equal(varint(&at), 128);
	assert_int_equal(varint(&at), 4);
	assert_int_equal(varint(&at), count);
	value = (uint64_t)zigzag(varint(&at));
	for (size_t i = 0; i < count;) {
		const uint8_t *bits;
		int64_t least;

		ret[i++] = narrow ? (uint32_t)value : value;
		if (i == count)
			break;
		least = zigzag(varint(&at));
		bits = at;
		at += 4;
		for (unsigned mini = 0; mini < 4 && i < count; mini++) {
			for (unsigned j = 0; j < 32 && i < count; j++) {
				value += (uint64_t)least + packed(at, j, bits[mini]);
				ret[i++] = narrow ? (uint32_t)value : value;
			}
			at += bits[mini] * 32 / 8;
		}
		i--;
		value = ret[i];
	}
	assert_ptr_equal(at, from->data + from->size);
}

static void examples_of_the_format(void **state)
{
	/* 0 to 7 with three bits are 10001000 11000110 11111010. */
	const uint32_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7}, equal[] = {5, 5, 5, 5, 5, 5, 5, 5, 5};
	const uint64_t steps[] = {1, 2, 3, 4, 5}, mixed[] = {7, 5, 3, 1, 2, 3, 4, 5};
	struct tally_buf buf = {0};

	(void)state;
	tally_parquet_runs(numbers, 8, 3, &buf);
	assert_int_equal(buf.size, 4);
	assert_memory_equal(buf.data, "\x03\x88\xc6\xfa", 4);
	tally_buf_clear(&buf);
	tally_parquet_runs(equal, 9, 3, &buf);
	assert_int_equal(buf.size, 2);
	assert_memory_equal(buf.data, "\x12\x05", 2);
	tally_buf_clear(&buf);
	/* Differences of 1: no bits; a block of 128 in four parts, as the format has it at least.
	 */
	tally_parquet_deltas(steps, 5, false, &buf);
	assert_memory_equal(buf.data, "\x80\x01\x04\x05\x02\x02\0\0\0\0", 10);
	assert_int_equal(buf.size, 10);
	tally_buf_clear(&buf);
	/* Differences -2 -2 -2 1 1 1 1: the least is -2, above it 0 0 0 3 3 3 3, in two bits. */
	tally_parquet_deltas(mixed, 8, false, &buf);
	assert_memory_equal(buf.data, "\x80\x01\x04\x08\x0e\x03\x02\0\0\0\xc0\x3f\0\0\0\0\0\0", 18);
	assert_int_equal(buf.size, 18);
	tally_buf_done(&buf);
}

static void numbers_read_back(void **state)
{
	static uint32_t small[3000], small_back[3000];
	static uint64_t large[3000], large_back[3000];
	unsigned seed = 7;

	(void)state;
	for (size_t round = 0; round < 400; round++) {
		size_t count = round < 300 ? round : (size_t)rand_r(&seed) % 3000;
		unsigned bits = 1 + (unsigned)round % 32, stay = 1 + (unsigned)round % 11;
		int narrow = round & 1;
		struct tally_buf buf = {0};

		for (size_t i = 0; i < count; i++) {
			uint64_t value = (uint64_t)rand_r(&seed) << 33 ^ (uint64_t)rand_r(&seed)
									     << 11;

			small[i] = i % stay ? small[i - 1]
					    : (uint32_t)value & (uint32_t)((1ULL << bits) - 1);
			large[i] = round % 3 ? value >> round % 64 : i * value;
			large[i] = narrow ? (uint32_t)large[i] : large[i];
		}
		tally_parquet_runs(small, count, bits, &buf);
		read_runs(&buf, bits, small_back, count);
		assert_memory_equal(small, small_back, count * sizeof(*small));
		tally_buf_clear(&buf);
		tally_parquet_deltas(large, count, narrow, &buf);
		if (count)
			read_deltas(&buf, narrow, large_back, count);
		assert_memory_equal(large, large_back, count * sizeof(*large));
		tally_buf_done(&buf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(examples_of_the_format),
	    cmocka_unit_test(numbers_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
