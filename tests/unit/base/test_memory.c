/* Arena, buffer and array: alignment, growth, what a failed allocation leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/table.h"

static void arena_pieces_are_aligned_zeroed_and_apart(void **state)
{
	struct tally_arena arena = {0};
	uint64_t *words[2000];

	(void)state;
	for (size_t i = 0; i < 2000; i++) {
		char text[40];
		size_t length = i % 37;
		char *copy;

		memset(text, 'a' + (int)(i % 26), sizeof(text));
		copy = tally_arena_strndup(&arena, text, length);
		assert_non_null(copy);
		assert_int_equal(strlen(copy), length);
		words[i] = tally_arena_alloc(&arena, 24);
		assert_non_null(words[i]);
		assert_int_equal((uintptr_t)words[i] % 8, 0);
		for (size_t k = 0; k < 3; k++) {
			assert_int_equal(words[i][k], 0);
			words[i][k] = i * 3 + k;
		}
	}
	for (size_t i = 0; i < 2000; i++)
		for (size_t k = 0; k < 3; k++)
			assert_int_equal(words[i][k], i * 3 + k);
	tally_arena_done(&arena);
	assert_null(arena.blocks);
}

/* Fewer bytes left in the block than the alignment needs, and a piece that would fit in them. */
static void arena_tail_is_never_given_out_unaligned(void **state)
{
	(void)state;
	for (size_t left = 1; left < 16; left++) {
		struct tally_arena arena = {0};
		void *piece;

		assert_non_null(tally_arena_alloc(&arena, 8));
		while ((size_t)(arena.end - arena.at) > left) {
			size_t rest = (size_t)(arena.end - arena.at) - left;

			assert_non_null(tally_arena_strndup(&arena, "", 0)); /* one byte, the NUL */
			if (rest > 64)
				assert_non_null(tally_arena_alloc(&arena, (rest - 32) & ~7UL));
		}
		piece = tally_arena_alloc(&arena, 1);
		assert_int_equal((uintptr_t)piece % 8, 0);
		tally_arena_done(&arena);
	}
}

static void arena_takes_large_pieces_and_refuses_absurd_ones(void **state)
{
	struct tally_arena arena = {0};
	char *small = tally_arena_alloc(&arena, 16), *large, *next;

	(void)state;
	large = tally_arena_alloc(&arena, 1 << 20);
	assert_non_null(large);
	memset(large, 1, 1 << 20);
	next = tally_arena_alloc(&arena, 16);
	assert_ptr_equal(next, small + 16); /* the rest of the first block stays in use */
	assert_null(tally_arena_alloc(&arena, SIZE_MAX - 64));
	assert_null(tally_arena_alloc(&arena, SIZE_MAX / 2 + 1));
	tally_arena_done(&arena);
}

static void buf_holds_what_was_added(void **state)
{
	struct tally_buf buf = {0};
	uint32_t word32 = 0x01020304;
	uint64_t word64 = 0x0102030405060708;

	(void)state;
	assert_string_equal(tally_buf_str(&buf), "");
	tally_buf_text(&buf, "ab");
	tally_buf_byte(&buf, 'c');
	tally_buf_printf(&buf, "%d-%s", 42, "x");
	assert_string_equal(tally_buf_str(&buf), "abc42-x");
	assert_int_equal(buf.size, 7);
	tally_buf_u32(&buf, word32);
	tally_buf_u64(&buf, word64);
	tally_buf_zero(&buf, 3);
	assert_int_equal(buf.size, 7 + 4 + 8 + 3);
	assert_memory_equal(buf.data + 7, &word32, 4);
	assert_memory_equal(buf.data + 11, &word64, 8);
	assert_memory_equal(buf.data + 19, "\0\0\0", 3);
	tally_buf_clear(&buf);
	assert_int_equal(buf.size, 0);
	for (int i = 0; i < 100000; i++)
		tally_buf_printf(&buf, "%d,", i % 10);
	assert_int_equal(buf.size, 200000);
	assert_memory_equal(buf.data + 199996, "8,9,", 4);
	tally_buf_done(&buf);
	assert_null(buf.data);
}

static void buf_failure_stays_until_cleared(void **state)
{
	struct tally_buf buf = {0};

	(void)state;
	tally_buf_text(&buf, "kept");
	assert_int_equal(tally_buf_reserve(&buf, SIZE_MAX - 2), -ENOMEM);
	tally_buf_text(&buf, "lost");
	assert_int_equal(buf.failed, -ENOMEM);
	assert_int_equal(buf.size, 4);
	assert_string_equal(tally_buf_str(&buf), "");
	tally_buf_clear(&buf);
	tally_buf_text(&buf, "again");
	assert_string_equal(tally_buf_str(&buf), "again");
	tally_buf_done(&buf);
}

static bool has_numbers(const uint32_t *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] != (uint32_t)i)
			return false;
	return true;
}

/* Below and above the size from which blocks are large. */
static void an_array_keeps_its_elements_when_its_length_changes(void **state)
{
	static const size_t counts[] = {1000, 400000, 1300000, 300000, 2000000, 10};
	uint32_t *list = NULL;
	size_t known = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		assert_true(array_resize(&list, counts[i], sizeof(*list)));
		known = known < counts[i] ? known : counts[i];
		assert_true(has_numbers(list, known));
		for (; known < counts[i]; known++)
			list[known] = (uint32_t)known;
	}
	assert_false(array_resize(&list, SIZE_MAX / 2, sizeof(*list)));
	assert_true(has_numbers(list, 10));
	free(list);
}

static void a_large_array_begins_where_a_huge_page_can(void **state)
{
	void *list = array_new(1000001, 4);

	(void)state;
	assert_non_null(list);
	assert_int_equal((uintptr_t)list % TABLE_HUGE, 0);
	free(list);
	assert_null(array_new(SIZE_MAX / 2, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(arena_pieces_are_aligned_zeroed_and_apart),
	    cmocka_unit_test(arena_tail_is_never_given_out_unaligned),
	    cmocka_unit_test(arena_takes_large_pieces_and_refuses_absurd_ones),
	    cmocka_unit_test(buf_holds_what_was_added),
	    cmocka_unit_test(buf_failure_stays_until_cleared),
	    cmocka_unit_test(an_array_keeps_its_elements_when_its_length_changes),
	    cmocka_unit_test(a_large_array_begins_where_a_huge_page_can),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
