/* The tables: u64 to u64 against a plain array, and strings by number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "base/map.h"

#define KEYS 50000

static uint64_t key_of(uint64_t i)
{
	/* Dense, page-like and scattered keys, 0 and the largest among them. */
	if (!i)
		return 0;
	if (i == 1)
		return UINT64_MAX;
	return i % 3 == 0 ? i : i % 3 == 1 ? i << 12 : hash_u64(i);
}

static void map_keeps_every_key(void **state)
{
	struct tally_map map = {0};
	uint64_t *value;
	bool added;

	(void)state;
	assert_null(tally_map_find(&map, 0));
	assert_null(tally_map_find(&map, 7));
	for (uint64_t i = 0; i < KEYS; i++) {
		value = tally_map_put(&map, key_of(i), &added);
		assert_non_null(value);
		assert_true(added);
		assert_int_equal(*value, 0);
		*value = i + 1;
	}
	for (uint64_t i = 0; i < KEYS; i++) {
		value = tally_map_put(&map, key_of(i), &added);
		assert_false(added);
		assert_int_equal(*value, i + 1);
		value = tally_map_find(&map, key_of(i));
		assert_non_null(value);
		assert_int_equal(*value, i + 1);
	}
	assert_null(tally_map_find(&map, 0x123456789abcdefULL));
	assert_true(map.count * 3 <= map.room * 2 + 3);
	tally_map_done(&map);
	assert_null(tally_map_find(&map, 0));
}

static void strings_have_one_number_each(void **state)
{
	struct tally_strings strings = {0};
	char text[32];

	(void)state;
	for (int64_t i = 0; i < KEYS; i++) {
		size_t length = (size_t)snprintf(text, sizeof(text), "name%" PRIi64, i);

		assert_int_equal(tally_strings_intern(&strings, text, length), i);
	}
	for (int64_t i = KEYS - 1; i >= 0; i--) {
		size_t length = (size_t)snprintf(text, sizeof(text), "name%" PRIi64, i);

		assert_int_equal(tally_strings_intern(&strings, text, length), i);
		assert_string_equal(strings.text[i], text);
		assert_int_equal(strings.length[i], length);
	}
	assert_int_equal(strings.count, KEYS);
	tally_strings_done(&strings);
}

static void strings_are_bytes(void **state)
{
	struct tally_strings strings = {0};

	(void)state;
	assert_int_equal(tally_strings_intern(&strings, "", 0), 0);
	assert_int_equal(tally_strings_intern(&strings, "a\0b", 3), 1);
	assert_int_equal(tally_strings_intern(&strings, "a\0c", 3), 2);
	assert_int_equal(tally_strings_intern(&strings, "a", 1), 3);
	assert_int_equal(tally_strings_intern(&strings, "a\0", 2), 4);
	assert_int_equal(tally_strings_intern(&strings, "a\0b", 3), 1);
	assert_int_equal(tally_strings_intern(&strings, "", 0), 0);
	assert_memory_equal(strings.text[2], "a\0c", 4); /* with its NUL */
	tally_strings_done(&strings);
}

/* Page addresses spread: of 40,960 over 4,096 slots none gets six times its share. */
static void hashes_spread(void **state)
{
	unsigned *slots = calloc(4096, sizeof(*slots));

	(void)state;
	assert_non_null(slots);
	for (uint64_t i = 0; i < 40960; i++)
		slots[hash_u64(i << 12) & 4095]++;
	for (size_t i = 0; i < 4096; i++)
		assert_in_range(slots[i], 0, 60);
	free(slots);
	assert_true(tally_hash_bytes("a\0", 2) != tally_hash_bytes("a", 1));
	assert_true(tally_hash_bytes("12345678", 8) != tally_hash_bytes("12345678\0", 9));
	assert_true(tally_hash_bytes("abcdefgh12345678", 16) !=
		    tally_hash_bytes("12345678abcdefgh", 16));
}

/* Small numbers, as of frames, places and threads. */
static void pairs_have_hashes_of_their_own(void **state)
{
	struct tally_map seen = {0};
	bool added;

	(void)state;
	for (uint64_t one = 0; one < 300; one++)
		for (uint64_t other = 0; other < 300; other++) {
			assert_non_null(tally_map_put(&seen, hash_pair(one << 4, other), &added));
			assert_true(added);
			assert_non_null(tally_map_put(&seen, hash_pair(~one, other << 6), &added));
			assert_true(added);
		}
	tally_map_done(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(map_keeps_every_key),
	    cmocka_unit_test(strings_have_one_number_each),
	    cmocka_unit_test(strings_are_bytes),
	    cmocka_unit_test(hashes_spread),
	    cmocka_unit_test(pairs_have_hashes_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
