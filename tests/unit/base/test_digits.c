/* Numbers as text are what printf makes of them. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/digits.h"

static void as_printf(uint64_t value)
{
	struct tally_buf buf = {0};
	char expected[512];

	buf_dec(&buf, value);
	tally_buf_byte(&buf, '|');
	buf_dec_right(&buf, value, 10);
	tally_buf_byte(&buf, '|');
	buf_dec_zeros(&buf, value, 9);
	tally_buf_byte(&buf, '|');
	buf_hex(&buf, value);
	tally_buf_byte(&buf, '|');
	buf_hex_right(&buf, value, 16);
	tally_buf_byte(&buf, '|');
	buf_hex_zeros(&buf, value, 16);
	tally_buf_byte(&buf, '|');
	buf_0x(&buf, value);
	tally_buf_byte(&buf, '|');
	buf_int(&buf, (uint32_t)value);
	buf_dec_right(&buf, value, 100);
	snprintf(expected, sizeof(expected),
		 "%" PRIu64 "|%10" PRIu64 "|%09" PRIu64 "|%" PRIx64 "|%16" PRIx64 "|%016" PRIx64
		 "|%#" PRIx64 "|%d%100" PRIu64,
		 value, value, value, value, value, value, value, (int)(uint32_t)value, value);
	assert_string_equal(tally_buf_str(&buf), expected);
	tally_buf_done(&buf);
}

static void around_every_power(void **state)
{
	uint64_t ten = 1;

	(void)state;
	for (unsigned bit = 0; bit < 64; bit++)
		for (int64_t by = -1; by <= 1; by++)
			as_printf((1ULL << bit) + (uint64_t)by);
	for (unsigned power = 0; power < 20; power++, ten *= 10)
		for (int64_t by = -1; by <= 1; by++)
			as_printf(ten + (uint64_t)by);
	as_printf(UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(around_every_power)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
