/* Go's table of functions, in its four layouts, both byte orders and sizes of pointers; and
 * damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "elf/go_table.h"

#define TEXT 0x401000

struct made {
	uint8_t bytes[512];
	size_t size;
	bool big;
};

static void put(struct made *made, size_t at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		made->bytes[at + (made->big ? bytes - 1 - i : i)] = (uint8_t)(value >> 8 * i);
	if (at + bytes > made->size)
		made->size = at + bytes;
}

/* main.main at TEXT, 0x20 bytes; runtime.gc behind it, 0x60 bytes. */
static struct made make(uint32_t magic, unsigned pointer, bool big)
{
	static const char names[] = "main.main\0runtime.gc";
	bool old = magic == 0xfffffffb, offsets = magic == 0xfffffff0 || magic == 0xfffffff1;
	unsigned field = offsets ? 4 : pointer;
	size_t functions = old ? 8 + pointer : 160, data = old ? 0 : functions;
	size_t name = old ? 300 : 96, entry = 240;
	uint64_t base = offsets ? 0 : TEXT;
	struct made made = {.big = big};

	put(&made, 0, magic, 4);
	made.bytes[6] = 1;
	made.bytes[7] = (uint8_t)pointer;
	put(&made, 8, 2, pointer);
	if (offsets) {
		put(&made, 8 + 2 * pointer, TEXT, pointer);
		put(&made, 8 + 3 * pointer, name, pointer);
		put(&made, 8 + 7 * pointer, functions, pointer);
	} else if (!old) {
		put(&made, 8 + 2 * pointer, name, pointer);
		put(&made, 8 + 6 * pointer, functions, pointer);
	}
	put(&made, functions, base, field);
	put(&made, functions + field, entry - data, field);
	put(&made, functions + 2 * field, base + 0x20, field);
	put(&made, functions + 3 * field, entry + 24 - data, field);
	put(&made, functions + 4 * field, base + 0x80, field);
	put(&made, entry + field, old ? name : 0, 4);
	put(&made, entry + 24 + field, (old ? name : 0) + 10, 4);
	memcpy(made.bytes + name, names, sizeof(names));
	if (name + sizeof(names) > made.size)
		made.size = name + sizeof(names);
	return made;
}

static const uint32_t magics[] = {0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1};

/* 13.13 */
static void every_layout_has_the_same_functions(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4 * 4; i++) {
		struct made made = make(magics[i / 4], i & 1 ? 4 : 8, i & 2);
		struct tally_go_function function;
		struct tally_go_table table;

		assert_int_equal(tally_go_table_open(made.bytes, made.size, made.big, &table), 0);
		assert_int_equal(table.count, 2);
		assert_int_equal(tally_go_table_function(&table, 0, &function), 0);
		assert_string_equal(function.name, "main.main");
		assert_int_equal(function.start, TEXT);
		assert_int_equal(function.end, TEXT + 0x20);
		assert_int_equal(tally_go_table_function(&table, 1, &function), 0);
		assert_string_equal(function.name, "runtime.gc");
		assert_int_equal(function.end, TEXT + 0x80);
		assert_int_not_equal(tally_go_table_function(&table, 2, &function), 0);
	}
}

/* 13.13: a copy of just so many bytes, so that the sanitizer sees a read beyond them */
static void a_table_that_is_cut_or_damaged_is_never_read_beyond_its_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct made made = make(magics[i], 8, false);

		for (size_t size = 0; size < made.size; size++) {
			for (int damage = 0; damage < 2; damage++) {
				uint8_t *bytes = malloc(size ? size : 1);
				struct tally_go_function function;
				struct tally_go_table table;

				memcpy(bytes, made.bytes, size);
				if (damage && size > 8)
					memset(bytes + size / 2, 0xff, size / 4);
				if (!tally_go_table_open(bytes, size, false, &table))
					for (uint64_t k = 0; k < table.count; k++)
						if (!tally_go_table_function(&table, k, &function))
							assert_true(strlen(function.name) < size);
				free(bytes);
			}
		}
	}
}

static void other_bytes_are_no_table(void **state)
{
	struct made made = make(0xfffffff1, 8, false);
	struct tally_go_table table;

	(void)state;
	made.bytes[7] = 3;
	assert_int_not_equal(tally_go_table_open(made.bytes, made.size, false, &table), 0);
	made = make(0xfffffff2, 8, false);
	assert_int_not_equal(tally_go_table_open(made.bytes, made.size, false, &table), 0);
	made = make(0xfffffff1, 8, false);
	assert_int_not_equal(tally_go_table_open(made.bytes, made.size, true, &table), 0);
	put(&made, 8, UINT64_MAX / 8, 8); /* more functions than there is room for */
	assert_int_not_equal(tally_go_table_open(made.bytes, made.size, false, &table), 0);
	made = make(0xfffffff1, 8, false);
	put(&made, 8 + 2 * 8, 0, 8); /* it does not say where the code is */
	assert_int_not_equal(tally_go_table_open(made.bytes, made.size, false, &table), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_layout_has_the_same_functions),
	    cmocka_unit_test(a_table_that_is_cut_or_damaged_is_never_read_beyond_its_end),
	    cmocka_unit_test(other_bytes_are_no_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
