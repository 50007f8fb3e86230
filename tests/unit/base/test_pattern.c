/* Patterns that regcomp() would need gigabytes for are refused, in both syntaxes; others are not.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/pattern.h"

static void is_refused(const char *pattern, int flags, const char *why)
{
	struct tally_error error = {0};
	regex_t regex;

	assert_int_equal(tally_pattern_compile(pattern, flags, &regex, &error), -EINVAL);
	assert_non_null(strstr(error.text, why));
}

static void matches(const char *pattern, int flags, const char *text)
{
	regex_t regex;

	assert_int_equal(tally_pattern_compile(pattern, flags, &regex, NULL), 0);
	assert_int_equal(regexec(&regex, text, 0, NULL, 0), 0);
	regfree(&regex);
}

static void extended(void **state)
{
	(void)state;
	is_refused("x++++++++++++++++++++++", REG_EXTENDED, "repeats too much");
	is_refused("(a{200}){200}", REG_EXTENDED, "repeats too much");
	is_refused("(a*)++++++++++++++", REG_EXTENDED, "repeats too much");
	is_refused("a{99999999999999999999}", REG_EXTENDED, "repeats too much");
	is_refused("(", REG_EXTENDED, "is not a regular expression");
	matches("^a\\+\\+\\+\\{9\\}\\{9\\}\\{9\\}\\{9\\}$", REG_EXTENDED, "a+++{9}{9}{9}{9}");
	matches("^([]+]+|[[:alpha:]+]+)$", REG_EXTENDED, "main");
	matches("^(a{2,3}b+)+$", REG_EXTENDED, "aabaaab");
}

static void basic(void **state)
{
	(void)state;
	is_refused("x\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+", 0, "repeats too much");
	is_refused("\\(a\\{200\\}\\)\\{200\\}", 0, "repeats too much");
	is_refused("\\(a*\\)\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+", 0, "repeats too much");
	is_refused("\\(", 0, "is not a regular expression");
	matches("^a+++++++++++++++(b{9}{9}{9}{9})$", 0, "a+++++++++++++++(b{9}{9}{9}{9})");
	matches("^\\(ab\\)\\{2\\}c\\+$", 0, "ababccc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(extended),
	    cmocka_unit_test(basic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
