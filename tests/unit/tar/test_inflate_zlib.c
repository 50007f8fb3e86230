#include "tar/inflate_zlib.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* "tally " 40 times, by Python's zlib. */
static const uint8_t packed[] = {0x78, 0xda, 0x2b, 0x49, 0xcc, 0xc9, 0xa9, 0x54, 0x28,
				 0x19, 0x31, 0x24, 0x00, 0xec, 0x8e, 0x5a, 0xf1};
#define SIZE 240U

static void test_known(void **state)
{
	uint8_t to[SIZE];
	int error = tally_inflate_zlib(packed, sizeof(packed), to, sizeof(to));

	(void)state;
	if (error == -ENOTSUP)
		skip(); /* built without libdeflate */
	assert_int_equal(error, 0);
	for (size_t i = 0; i < SIZE; i += 6)
		assert_memory_equal(to + i, "tally ", 6);
}

static void test_other_sizes_and_damage(void **state)
{
	uint8_t to[SIZE + 1], damaged[sizeof(packed)];

	(void)state;
	if (tally_inflate_zlib(packed, sizeof(packed), to, SIZE) == -ENOTSUP)
		skip(); /* built without libdeflate */
	assert_int_equal(tally_inflate_zlib(packed, sizeof(packed), to, SIZE + 1), -EBADMSG);
	assert_int_equal(tally_inflate_zlib(packed, sizeof(packed), to, SIZE - 1), -EBADMSG);
	for (size_t size = 0; size < sizeof(packed); size++)
		assert_int_equal(tally_inflate_zlib(packed, size, to, SIZE), -EBADMSG);
	for (size_t i = 0; i < sizeof(packed); i++) {
		memcpy(damaged, packed, sizeof(packed));
		damaged[i] ^= 1;
		assert_int_equal(tally_inflate_zlib(damaged, sizeof(damaged), to, SIZE), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_known),
	    cmocka_unit_test(test_other_sizes_and_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
