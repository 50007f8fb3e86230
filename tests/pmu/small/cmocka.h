/* As much of cmocka as the kernel's tests use, for the guest, which has no libraries: a test ends
 * where it fails, and has a line of TAP. */
#ifndef TALLY_TESTS_PMU_CMOCKA_H
#define TALLY_TESTS_PMU_CMOCKA_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
	const char *name;
	void (*test)(void **state);
};

static jmp_buf small_end; /* 1: failed, 2: skipped */

#define small_check(right, ...)                                  \
	do {                                                     \
		if (!(right)) {                                  \
			printf("# %s:%d: ", __FILE__, __LINE__); \
			printf(__VA_ARGS__);                     \
			putchar('\n');                           \
			longjmp(small_end, 1);                   \
		}                                                \
	} while (0)

#define cmocka_unit_test(name) \
	{                      \
#name, name    \
	}
#define print_message(...)     (printf("# "), printf(__VA_ARGS__))
#define fail_msg(...)          small_check(0, __VA_ARGS__)
#define skip()                 longjmp(small_end, 2)
#define assert_true(value)     small_check((value), "%s", #value)
#define assert_false(value)    small_check(!(value), "not %s", #value)
#define assert_null(value)     small_check(!(value), "%s is not NULL", #value)
#define assert_non_null(value) small_check((value) != NULL, "%s is NULL", #value)
#define assert_int_equal(a, b)                                                         \
	do {                                                                           \
		uint64_t small_a = (uint64_t)(a), small_b = (uint64_t)(b);             \
		small_check(small_a == small_b, "%s is %" PRIi64 ", not %" PRIi64, #a, \
			    (int64_t)small_a, (int64_t)small_b);                       \
	} while (0)
#define assert_in_range(value, low, high)                                                          \
	do {                                                                                       \
		uint64_t small_value = (uint64_t)(value), small_low = (uint64_t)(low),             \
			 small_high = (uint64_t)(high);                                            \
		small_check(small_value >= small_low && small_value <= small_high,                 \
			    "%s is %" PRIu64 ", not %" PRIu64 " to %" PRIu64, #value, small_value, \
			    small_low, small_high);                                                \
	} while (0)
#define assert_ptr_not_equal(a, b) small_check((a) != (b), "%s is %s", #a, #b)

static int small_run(const struct CMUnitTest *tests, size_t count)
{
	static size_t number;
	volatile int failed = 0;
	volatile size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < count; i++) {
		void *state = NULL;
		int how = setjmp(small_end);

		if (!how)
			tests[i].test(&state);
		failed += how == 1;
		printf("%sok %zu - %s%s\n", how == 1 ? "not " : "", ++number, tests[i].name,
		       how == 2 ? " # SKIP" : "");
	}
	return failed;
}

#define cmocka_run_group_tests(tests, setup, done) \
	small_run(tests, sizeof(tests) / sizeof((tests)[0]))

#endif
