/* How often mappings are looked at between two passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collect/event_plan.h"
#include "record/look.h"

/* One event, and the side-band. */
static int interval_of(bool freq, uint64_t value)
{
	struct tally_planned events[2] = {0};
	struct tally_plan plan = {.events = events, .count = 2};

	events[0].attr.freq = freq;
	events[0].attr.sample_freq = value;
	events[1].attr.sample_period = 1;
	return tally_look_interval(&plan);
}

static void rare_samples_need_rare_looks(void **state)
{
	(void)state;
	assert_int_equal(interval_of(true, 4000), 10);
	assert_int_equal(interval_of(true, 50000), 10);
	assert_int_equal(interval_of(true, 999), 40);
	assert_int_equal(interval_of(true, 99), 100);
	assert_int_equal(interval_of(true, 1), 100);
}

static void unknown_rates_are_looked_at_often(void **state)
{
	(void)state;
	assert_int_equal(interval_of(false, 100000), 10);
	assert_int_equal(interval_of(false, 0), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rare_samples_need_rare_looks),
	    cmocka_unit_test(unknown_rates_are_looked_at_often),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
