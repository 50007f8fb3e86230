#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "report/shorten.h"

static void is(const char *name, size_t columns, const char *wanted)
{
	struct tally_buf text = {0};

	tally_shorten(&text, name, strlen(name), columns);
	assert_int_equal(text.failed, 0);
	assert_int_equal(text.size, strlen(wanted));
	assert_memory_equal(text.data, wanted, text.size);
	tally_buf_done(&text);
}

static void arguments_go_first(void **state)
{
	(void)state;
	is("main", 4, "main");
	is("std::vector<int, std::allocator<int> >::push_back(int const&)", 61,
	   "std::vector<int, std::allocator<int> >::push_back(int const&)");
	is("std::vector<int, std::allocator<int> >::push_back(int const&)", 60,
	   "std::vector<int, std::allocator<int> >::push_back(...)");
	is("std::vector<int, std::allocator<int> >::push_back(int const&)", 40,
	   "std::vector<...>::push_back(...)");
	is("std::map<std::map<short, long>, std::vector<long> >::find", 30, "std::map<...>::find");
	is("core::ops::function::FnOnce::call_once<alloc::vec::Vec<u8>>", 48,
	   "core::ops::function::FnOnce::call_once<...>");
	is("__libc_start_main_impl (inlined)", 28, "__libc_s...in_impl (inlined)");
	is("stream::operator<<(char const*, unsigned long)", 30, "stream::operator<<(...)");
}

static void what_is_too_long_is_cut_in_the_middle(void **state)
{
	(void)state;
	is("a_function_with_a_long_name_first", 20, "a_fun...g_name_first");
	is("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 6,
	   "\xc3\xa4...\xc3\xa4\xc3\xa4");
	is("abcdef", 3, "...");
	is("abcdef", 2, "..");
}

static void no_text_is_wider_than_asked(void **state)
{
	static const char name[] = "a<b<c>, d<e> >::f(g<h>, (i)) const [clone .j] operator<(k)";

	(void)state;
	for (size_t columns = 1; columns < sizeof(name); columns++) {
		for (size_t at = 0; at < sizeof(name); at++) {
			struct tally_buf text = {0};

			tally_shorten_around(&text, name, strlen(name), columns, at);
			assert_true(text.size <= columns);
			tally_buf_clear(&text);
			tally_shorten(&text, name, strlen(name), columns);
			assert_true(text.size <= columns);
			tally_buf_done(&text);
		}
	}
}

static void a_difference_stays_visible(void **state)
{
	static const char one[] =
	    "table_of_values<std::map<key_of_the_first, value>, long>::find_it";
	static const char other[] =
	    "table_of_values<std::map<key_of_the_other, value>, long>::find_it";
	size_t at = strlen("table_of_values<std::map<key_of_the_");
	struct tally_buf a = {0}, b = {0};

	(void)state;
	tally_shorten_around(&a, one, strlen(one), 40, at);
	tally_shorten_around(&b, other, strlen(other), 40, at);
	assert_true(a.size <= 40 && b.size <= 40);
	assert_true(a.size != b.size || memcmp(a.data, b.data, a.size) != 0);
	tally_buf_done(&a);
	tally_buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(arguments_go_first),
	    cmocka_unit_test(what_is_too_long_is_cut_in_the_middle),
	    cmocka_unit_test(no_text_is_wider_than_asked),
	    cmocka_unit_test(a_difference_stays_visible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
