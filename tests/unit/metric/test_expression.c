/* Metric expressions: values known by hand, what is refused and where, and which events are needed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "metric/expression.h"

static double value_of(void *to, size_t at, const char *id)
{
	(void)at;
	(void)to;
	if (!strcmp(id, "seven"))
		return 7;
	if (!strcmp(id, "zero"))
		return 0;
	if (!strcmp(id, "inst_retired.any:u"))
		return 100;
	if (!strcmp(id, "cpu/event=0x3c,cmask=1/"))
		return 50;
	if (!strcmp(id, "chip3.x"))
		return 3;
	if (!strcmp(id, "2nd"))
		return 22;
	return NAN;
}

static double count_of(void *to, size_t at, const char *id)
{
	(void)at;
	(void)to;
	return !strcmp(id, "seven") ? 4 : 1;
}

static double literal_of(void *to, enum tally_expression_literal literal)
{
	(void)to;
	return literal == EXPR_SMT_ON ? 1 : literal == EXPR_NUM_CPUS ? 8 : 0;
}

static bool has(void *to, size_t at, const char *id)
{
	(void)at;
	(void)to;
	return !strcmp(id, "seven");
}

static const struct tally_expression_source source = {
    .value = value_of,
    .source_count = count_of,
    .literal = literal_of,
    .has_event = has,
    .cpuid = "GenuineIntel-6-55-7",
};

static void values(void **state)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {
	    {"1+1", 2},
	    {"2 - 3 - 4", -5},
	    {"8 / 4 / 2", 1},
	    {"1+2*3", 7},
	    {"(1+2)*3", 9},
	    {"-seven + 1", -6},
	    {"2 * - - 3", 6},
	    {"7 % 4 * 2", 6},
	    {"1 | 6 & 3", 3},
	    {"6 ^ 3 | 8", 13},
	    {"1 < 2 > 0", 1},
	    {"1 + 1 < 3", 1},
	    {"4 & 2 < 3", 0},
	    {"1 if 2 > 1 else 3", 1},
	    {"1 if 0 else 2 if 0 else 3", 3},
	    {"1 if 1 else 2 if 0 else 3", 1},
	    {"(1 if 0 else 2) * 10", 20},
	    {"1 + 2 if zero else 5 + 6", 11},
	    {"1 if 2 if 0 else 0 else 9", 9},
	    {"min(2, 1 if 0 else 3)", 2},
	    {"max(seven, 3) - min(seven, 3)", 4},
	    {"d_ratio(10, 4)", 2.5},
	    {"d_ratio(10, zero)", 0},
	    {"1.5e2", 150},
	    {"1e-2 * 100", 1},
	    {".5 + 5.", 5.5},
	    {"#SMT_on + #num_cpus", 9},
	    {"source_count(seven) + source_count(zero)", 5},
	    {"has_event(seven) + has_event(zero)", 1},
	    {"strcmp_cpuid_str(GenuineIntel\\-6\\-55)", 1},
	    {"strcmp_cpuid_str(0x41)", 0},
	    {"inst_retired.any:u / 4", 25},
	    {"cpu@event\\=0x3c\\,cmask\\=1@ * 2", 100},
	    {"chip?.x", 3},
	    {"2nd", 22},
	    {"1 if unknown else 2", 1}, /* NaN is not zero */
	    {"7 if 1 else 1 / 0", 7},
	    {"min(unknown, 3)", 3},
	    {"5 % -1", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_expression *expression;
		struct tally_error error;
		double value;

		if (tally_expression_parse(cases[i].text, 3, &expression, &error))
			fail_msg("%s: %s", cases[i].text, error.text);
		value = tally_expression_value(expression, &source);
		if (!(fabs(value - cases[i].value) < 1e-9))
			fail_msg("%s is %g, not %g", cases[i].text, value, cases[i].value);
		tally_expression_free(expression);
	}
}

static void no_value_is_nan(void **state)
{
	static const char *const texts[] = {"1 / 0",           "1 / zero",  "1 % 0",
					    "7 % 0.5",         "unknown",   "1 + nope",
					    "min(3, unknown)", "1e300 | 1", "unknown & 1"};
	static const struct tally_expression_source none = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct tally_expression *expression;

		assert_int_equal(tally_expression_parse(texts[i], 0, &expression, NULL), 0);
		if (!isnan(tally_expression_value(expression, &source)))
			fail_msg("%s has a value", texts[i]);
		tally_expression_value(expression, &none);
		tally_expression_free(expression);
	}
}

static void wrong_ones_are_reported_by_column(void **state)
{
	static const struct {
		const char *text;
		int64_t column;
	} cases[] = {
	    {"", 0},
	    {"1 +", 3},
	    {"(1", 2},
	    {"1 2", 2},
	    {"a b", 2},
	    {"1 if 2", 6},
	    {"if", 0},
	    {"1 if 2 else", 11},
	    {"min(1)", 5},
	    {"min(1,2", 7},
	    {"#nothing", 0},
	    {"a $ b", 2},
	    {"source_count(1 + 1)", 15},
	    {"* 2", 0},
	    {"1 ! 2", 2},
	    {"d_ratio 1", 8},
	    {"1)", 1},
	    {"a\\", 1},
	};
	struct tally_expression *expression = NULL;
	struct tally_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int result = tally_expression_parse(cases[i].text, 0, &expression, &error);

		if (result != -EINVAL || error.position != cases[i].column)
			fail_msg("%s: %d at %lld: %s", cases[i].text, result,
				 (long long)error.position, error.text);
	}
	assert_null(expression);
}

static void deep_and_long_ones_end(void **state)
{
	char text[5000];
	struct tally_expression *expression;

	(void)state;
	memset(text, '(', 400);
	text[400] = '\0';
	assert_int_equal(tally_expression_parse(text, 0, &expression, NULL), -E2BIG);
	for (size_t i = 0; i < 4998; i += 2)
		memcpy(text + i, "1+", 2);
	memcpy(text + 4998, "1", 2);
	assert_int_equal(tally_expression_parse(text, 0, &expression, NULL), 0);
	assert_true(tally_expression_value(expression, &source) == 2500);
	tally_expression_free(expression);
	for (size_t i = 0; i < 4860; i += 12) /* keeps all conditions on the stack */
		memcpy(text + i, "0 if 0 else ", 12);
	memcpy(text + 4860, "5", 2);
	assert_int_equal(tally_expression_parse(text, 0, &expression, NULL), 0);
	assert_true(tally_expression_value(expression, &source) == 5);
	tally_expression_free(expression);
}

static void ids_in_order_and_once(void **state)
{
	struct tally_expression *expression;

	(void)state;
	assert_int_equal(
	    tally_expression_parse("b + a * b + cpu@x@ + has_event(c)", 0, &expression, NULL), 0);
	assert_string_equal(tally_expression_id(expression, 0), "b");
	assert_string_equal(tally_expression_id(expression, 1), "a");
	assert_string_equal(tally_expression_id(expression, 2), "cpu/x/");
	assert_string_equal(tally_expression_id(expression, 3), "c");
	assert_null(tally_expression_id(expression, 4));
	tally_expression_free(expression);
}

static void events_of_other_branches_are_not_needed(void **state)
{
	static const struct {
		const char *text, *needed; /* IDs are single letters */
	} cases[] = {
	    {"a + b", "ab"},
	    {"a if #smt_on else b", "a"},
	    {"a if #core_wide else b", "b"},
	    {"a if #smt_on < 1 else b if #smt_on else c", "b"},
	    {"(a if #core_wide else b) + a * 0", "ba"},
	    {"a if b else c", "abc"},
	    {"1 if b else 1", ""},
	    {"1 if b else 2", "b"},
	    {"d_ratio(a, 0) + b", "b"},
	    {"d_ratio(a, b)", "ab"},
	    {"min(a, max(b, c))", "abc"},
	    {"a if 1 - #smt_on else (b if #smt_on else c) + d", "bd"},
	    {"a if has_event(seven) else b", "a"},
	    {"a if has_event(x) else b", "b"},
	    {"source_count(a) / b", "ab"},
	    {"a / 0", "a"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_expression *expression;
		bool needed[16];
		char got[16] = "";
		size_t length = 0;

		assert_int_equal(tally_expression_parse(cases[i].text, 0, &expression, NULL), 0);
		assert_int_equal(tally_expression_needed(expression, &source, needed), 0);
		for (size_t j = 0; tally_expression_id(expression, j); j++)
			if (needed[j])
				got[length++] = *tally_expression_id(expression, j);
		got[length] = '\0';
		for (const char *at = cases[i].needed; *at; at++)
			if (!strchr(got, *at) || length != strlen(cases[i].needed))
				fail_msg("%s needs %s, not %s", cases[i].text, cases[i].needed,
					 got);
		assert_int_equal(length, strlen(cases[i].needed));
		tally_expression_free(expression);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(values),
	    cmocka_unit_test(no_value_is_nan),
	    cmocka_unit_test(wrong_ones_are_reported_by_column),
	    cmocka_unit_test(deep_and_long_ones_end),
	    cmocka_unit_test(ids_in_order_and_once),
	    cmocka_unit_test(events_of_other_branches_are_not_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
