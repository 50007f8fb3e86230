/* Which differences of numbers of samples are more than chance. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "diff/significance.h"

static void is_about(double value, double expected, double by)
{
	assert_true(fabs(value - expected) <= by);
}

static void equal_rates_are_no_change(void **state)
{
	(void)state;
	is_about(tally_significance(1000, 1000, 1, 1, 0, 1), 1, 1e-9);
	is_about(tally_significance(1000, 2000, 5000, 10000, 0.03, 1), 1, 1e-9);
	is_about(tally_significance(0, 0, 1, 1, 0, 1), 1, 0);
}

/* Binomial probabilities, worked out by hand: 2 * (1/2)^10, 2 * (1 + 10) / 2^10. */
static void few_samples_are_counted_out(void **state)
{
	(void)state;
	is_about(tally_significance(0, 10, 1, 1, 0, 1), 2.0 / 1024, 1e-9);
	is_about(tally_significance(10, 0, 1, 1, 0, 1), 2.0 / 1024, 1e-9);
	is_about(tally_significance(1, 9, 1, 1, 0, 1), 22.0 / 1024, 1e-9);
	/* of three times as many samples three quarters are expected */
	is_about(tally_significance(0, 3, 1, 3, 0, 1), 2 * pow(0.75, 3), 1e-9);
	is_about(tally_significance(10, 10, 1, 1, 0, 1), 1, 0);
}

/* Two numbers of Poisson distributions of 10,000 differ by 141 in one standard deviation. */
static void many_samples_are_nearly_normal(void **state)
{
	(void)state;
	is_about(tally_significance(10000, 10283, 1, 1, 0, 1), 0.0455, 0.003);
	/* Four times the variance: half as many standard deviations. */
	is_about(tally_significance(10000, 10283, 1, 1, 0, 4), 0.317, 0.003);
	assert_true(tally_significance(10000, 11000, 1, 1, 0, 1) < 1e-10);
}

static void noise_explains_differences_of_its_size(void **state)
{
	(void)state;
	assert_true(tally_significance(1000000, 1030000, 1, 1, 0, 1) < 1e-10);
	assert_true(tally_significance(1000000, 1030000, 1, 1, 0.03, 1) > 0.3);
	assert_true(tally_significance(1000000, 1300000, 1, 1, 0.03, 1) < 1e-6);
	/* more noise never makes a change more certain */
	for (uint64_t few = 0; few < 60; few += 3)
		assert_true(tally_significance(few, 60, 1, 1, 0.05, 1) >=
			    tally_significance(few, 60, 1, 1, 0, 1) - 1e-12);
}

/* A function of 20 equal runs had 1 to 17 of 14,000 samples. */
static void small_rows_have_more_noise(void **state)
{
	double noise = tally_significance_noise(0.03, 18, 27814);

	(void)state;
	assert_true(tally_significance(1, 17, 13331, 14483, 0.03, 1) < 0.001);
	assert_true(tally_significance(1, 17, 13331, 14483, noise, 1) > 0.1);
	noise = tally_significance_noise(0.03, 600, 27814);
	assert_true(tally_significance(200, 400, 13331, 14483, noise, 1) < 1e-8);
	is_about(tally_significance_noise(0.03, 27814, 27814), 0.03, 1e-4);
	is_about(tally_significance_noise(0.03, 1, UINT64_MAX), 10, 1e-9);
	is_about(tally_significance_noise(0, 1, 27814), 0, 0);
	is_about(tally_significance_noise(0.03, 0, 27814), 0.03, 1e-12);
}

static void what_the_rates_are_of_must_be_known(void **state)
{
	(void)state;
	is_about(tally_significance(5, 5000, 0, 1, 0, 1), 1, 0);
	is_about(tally_significance(5, 5000, 1, NAN, 0, 1), 1, 0);
}

static void of_many_tests_only_the_most_certain_count(void **state)
{
	double p[100];
	bool chosen[100];

	(void)state;
	for (size_t i = 0; i < 100; i++)
		p[i] = 0.005; /* one of 200 each: some are expected */
	p[7] = 1e-9;
	assert_int_equal(tally_significance_choose(p, 100, 1, chosen), 0);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(chosen[i], i == 7);
	/* alone, it would count */
	assert_int_equal(tally_significance_choose(p, 1, 1, chosen), 0);
	assert_true(chosen[0]);
	assert_int_equal(tally_significance_choose(p, 0, 1, chosen), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(equal_rates_are_no_change),
	    cmocka_unit_test(few_samples_are_counted_out),
	    cmocka_unit_test(many_samples_are_nearly_normal),
	    cmocka_unit_test(noise_explains_differences_of_its_size),
	    cmocka_unit_test(small_rows_have_more_noise),
	    cmocka_unit_test(what_the_rates_are_of_must_be_known),
	    cmocka_unit_test(of_many_tests_only_the_most_certain_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
