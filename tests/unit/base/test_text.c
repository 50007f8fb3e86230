/* Text from outside: escaping, numbers, CPU lists, the nearest name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>
#include "base/fail.h"
#include "base/text.h"

static void escapes(void **state)
{
	static const struct {
		const char *text;
		size_t length;
		const char *escaped;
	} cases[] = {
	    {"plain text", 10, "plain text"},
	    {"", 0, ""},
	    {"tab\tnl\n", 7, "tab\\x09nl\\x0a"},
	    {"\x1b[31m", 5, "\\x1b[31m"},
	    {"a\0b\x7f", 4, "a\\x00b\\x7f"},
	    {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9,
	     "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},        /* two, three and four bytes */
	    {"\xc2\x9b", 2, "\\xc2\\x9b"},                   /* a C1 control: CSI */
	    {"\xc2\xa0", 2, "\xc2\xa0"},                     /* the first after them */
	    {"\xc0\xaf", 2, "\\xc0\\xaf"},                   /* overlong */
	    {"\xe0\x80\xaf", 3, "\\xe0\\x80\\xaf"},          /* overlong */
	    {"\xf0\x80\x80\xaf", 4, "\\xf0\\x80\\x80\\xaf"}, /* overlong */
	    {"\xed\xa0\x80", 3, "\\xed\\xa0\\x80"},          /* a surrogate */
	    {"\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"}, /* over U+10FFFF */
	    {"\xf4\x8f\xbf\xbf", 4, "\xf4\x8f\xbf\xbf"},     /* U+10FFFF */
	    {"\xf8\x88\x80\x80\x80", 5, "\\xf8\\x88\\x80\\x80\\x80"}, /* five bytes */
	    {"ok\xe2\x82", 4, "ok\\xe2\\x82"},                        /* cut short */
	    {"\xe2\x82\xac", 2, "\\xe2\\x82"},                        /* cut by its length */
	    {"\x80", 1, "\\x80"},
	    {"\xff\xfe", 2, "\\xff\\xfe"},
	    {"\xc3(", 2, "\\xc3("},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tally_buf buf = {0};

		tally_text_add_escaped(&buf, cases[i].text, cases[i].length);
		assert_string_equal(tally_buf_str(&buf), cases[i].escaped);
		tally_buf_done(&buf);
	}
}

static void escaping_is_like_snprintf(void **state)
{
	char to[8];

	(void)state;
	assert_int_equal(tally_text_escape("a\x1b"
					   "b",
					   to, sizeof(to)),
			 6);
	assert_string_equal(to, "a\\x1bb");
	assert_int_equal(tally_text_escape("0123456789", to, sizeof(to)), 10);
	assert_string_equal(to, "0123456");
	assert_int_equal(tally_text_escape("0123456789", NULL, 0), 10);
	assert_int_equal(tally_text_escape("", to, sizeof(to)), 0);
	assert_string_equal(to, "");
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint64_t value;
	} cases[] = {
	    {"0", 0, 0},
	    {"42", 0, 42},
	    {"010", 0, 10}, /* never octal */
	    {"0x1F", 0, 31},
	    {"0Xff", 0, 255},
	    {"18446744073709551615", 0, UINT64_MAX},
	    {"18446744073709551616", -ERANGE, 0},
	    {"0xffffffffffffffff", 0, UINT64_MAX},
	    {"0x10000000000000000", -ERANGE, 0},
	    {"", -EINVAL, 0},
	    {"-1", -EINVAL, 0},
	    {"+1", -EINVAL, 0},
	    {" 1", -EINVAL, 0},
	    {"1 ", -EINVAL, 0},
	    {"1k", -EINVAL, 0},
	    {"0x", -EINVAL, 0},
	    {"x1", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t value = 99;

		assert_int_equal(tally_text_u64(cases[i].text, &value), cases[i].result);
		assert_int_equal(value, cases[i].result ? 99 : cases[i].value);
	}
}

static void cpu_lists(void **state)
{
	static const struct {
		const char *text;
		int result;
		size_t count;
		uint32_t first, last;
	} cases[] = {
	    {"0", 0, 1, 0, 0},
	    {"0-3,7\n", 0, 5, 0, 7},
	    {"7,0-3", 0, 5, 0, 7}, /* any order */
	    {"1,1,0-2", 0, 3, 0, 2},
	    {"65535", 0, 1, 65535, 65535},
	    {"0-65535", 0, 65536, 0, 65535},
	    {"", 0, 0, 0, 0},
	    {"\n", 0, 0, 0, 0},
	    {"65536", -EINVAL, 0, 0, 0},
	    {"99999999999999999999", -EINVAL, 0, 0, 0},
	    {"3-1", -EINVAL, 0, 0, 0},
	    {"1-", -EINVAL, 0, 0, 0},
	    {"-1", -EINVAL, 0, 0, 0},
	    {"1,", -EINVAL, 0, 0, 0},
	    {",1", -EINVAL, 0, 0, 0},
	    {"1;2", -EINVAL, 0, 0, 0},
	    {"1 2", -EINVAL, 0, 0, 0},
	    {"a", -EINVAL, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t *cpus = (uint32_t *)-1L;
		size_t count = 99;

		assert_int_equal(tally_text_cpu_list(cases[i].text, &cpus, &count),
				 cases[i].result);
		if (cases[i].result) {
			assert_ptr_equal(cpus, (uint32_t *)-1L); /* untouched */
			assert_int_equal(count, 99);
			continue;
		}
		assert_int_equal(count, cases[i].count);
		if (count) {
			assert_int_equal(cpus[0], cases[i].first);
			assert_int_equal(cpus[count - 1], cases[i].last);
		}
		for (size_t k = 1; k < count; k++)
			assert_true(cpus[k - 1] < cpus[k]);
		free(cpus);
	}
}

static void nearest_names(void **state)
{
	static const char *const names[] = {"cycles", "instructions", "cache-misses", "cpu-clock",
					    "a"};
	const size_t count = sizeof(names) / sizeof(*names);
	char longest[200];

	(void)state;
	assert_string_equal(tally_text_nearest("cycels", names, count), "cycles");
	assert_string_equal(tally_text_nearest("CYCLES", names, count), "cycles");
	assert_string_equal(tally_text_nearest("instruction", names, count), "instructions");
	assert_string_equal(tally_text_nearest("cpuclock", names, count), "cpu-clock");
	assert_null(tally_text_nearest("branch-misses-and-more", names, count));
	assert_null(tally_text_nearest("cycles", names, 0));
	/* 13.18: two of three letters may not be wrong, and a swap is one mistake. */
	assert_null(tally_text_nearest("tui", (const char *const[]){"tid", "pid"}, 2));
	assert_string_equal(tally_text_nearest("tdi", (const char *const[]){"pid", "tid"}, 2),
			    "tid");
	assert_null(tally_text_nearest("b", names, count));
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	assert_null(tally_text_nearest(longest, names, count));
	assert_null(tally_text_nearest("cycles", (const char *const[]){longest}, 1));
}

static void failures_are_reported_once(void **state)
{
	struct tally_error error;
	char longer[2 * TALLY_ERROR_TEXT];

	(void)state;
	assert_int_equal(tally_fail(NULL, -EINVAL, 3, "nobody asked"), -EINVAL);
	assert_int_equal(tally_fail(&error, -ENOENT, 3, "no %s", "such"), -ENOENT);
	assert_int_equal(error.code, -ENOENT);
	assert_int_equal(error.position, 3);
	assert_string_equal(error.text, "no such");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	tally_fail(&error, -EINVAL, -1, "%s", longer);
	assert_int_equal(strlen(error.text), TALLY_ERROR_TEXT - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(escapes),       cmocka_unit_test(escaping_is_like_snprintf),
	    cmocka_unit_test(numbers),       cmocka_unit_test(cpu_lists),
	    cmocka_unit_test(nearest_names), cmocka_unit_test(failures_are_reported_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
