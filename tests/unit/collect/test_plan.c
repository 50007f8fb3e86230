/* Attrs as they are opened: frequency, period, sampling fields, the side-band. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <tally/abi.h>
#include "collect/plan.h"

static void keep_notice(void *context, const char *text)
{
	snprintf(context, 1024, "%s", text);
}

struct asked {
	struct tally_recorder_options options;
	struct tally_event_list list;
	struct tally_event events[3];
	char said[1024];
};

static void make(struct asked *asked, struct tally_plan *ret)
{
	struct tally_limits limits = {.paranoid = 2, .max_sample_rate = 50000};
	struct tally_targets targets = {.command = true};
	struct tally_notice notice = {keep_notice, asked->said};
	struct tally_error error;

	asked->list.events = asked->events;
	if (asked->list.count)
		asked->options.events = &asked->list;
	assert_int_equal(tally_plan_make(&asked->options, &limits, &targets, &notice, ret, &error),
			 0);
}

static void test_default(void **state)
{
	struct asked asked = {0};
	struct tally_plan plan;

	(void)state;
	make(&asked, &plan);
	assert_int_equal(plan.count, 2);
	assert_string_equal(plan.events[0].name, "cycles:P");
	assert_int_equal(plan.events[0].attr.freq, 1);
	assert_int_equal(plan.events[0].attr.sample_freq, 4000);
	assert_int_equal(plan.events[0].attr.precise_ip, 3);
	assert_int_equal(plan.events[0].attr.enable_on_exec, 1);
	assert_int_equal(plan.events[0].attr.inherit, 1);
	/* Sampling events carry no side-band, and the side-band needs no rights. */
	assert_int_equal(
	    plan.events[0].attr.mmap | plan.events[0].attr.comm | plan.events[0].attr.task, 0);
	assert_string_equal(plan.events[1].name, "dummy:u");
	assert_int_equal(plan.events[1].attr.exclude_kernel, 1);
	assert_true(plan.events[1].attr.mmap2 && plan.events[1].attr.comm_exec &&
		    plan.events[1].attr.task && plan.events[1].attr.build_id);
	/* One shape of trailers: perf finds the event of a record by it. */
	assert_int_equal(plan.events[0].attr.sample_type & ~(uint64_t)PERF_SAMPLE_CALLCHAIN,
			 plan.events[1].attr.sample_type);
	assert_string_equal(asked.said, "");
	tally_plan_done(&plan);
}

static void test_frequency_limit(void **state)
{
	struct asked asked = {.options.frequency = 60000};
	struct tally_plan plan;

	(void)state;
	make(&asked, &plan);
	assert_int_equal(plan.events[0].attr.sample_freq, 50000);
	assert_non_null(strstr(asked.said, "50000 Hz instead of 60000"));
	tally_plan_done(&plan);
	asked = (struct asked){.options.max_frequency = true};
	make(&asked, &plan);
	assert_int_equal(plan.events[0].attr.sample_freq, 50000);
	tally_plan_done(&plan);
}

static void test_tracepoint(void **state)
{
	struct asked asked = {
	    .list.count = 1,
	    .events = {{.attr = {.type = PERF_TYPE_TRACEPOINT, .config = 300}, .name = "a:b"}},
	};
	struct tally_plan plan;

	(void)state;
	make(&asked, &plan);
	assert_int_equal(plan.events[0].attr.freq, 0);
	assert_int_equal(plan.events[0].attr.sample_period, 1);
	assert_true(plan.events[0].attr.sample_type & PERF_SAMPLE_RAW);
	assert_true(plan.events[0].attr.sample_type & PERF_SAMPLE_PERIOD);
	tally_plan_done(&plan);
	/* With a period of one's own the kernel counts only when PERIOD is not asked for. */
	asked.options.period = 10;
	make(&asked, &plan);
	assert_int_equal(plan.events[0].attr.sample_period, 10);
	assert_false(plan.events[0].attr.sample_type & PERF_SAMPLE_PERIOD);
	tally_plan_done(&plan);
}

static void test_group_read(void **state)
{
	struct asked asked = {
	    .list.count = 2,
	    .events = {{.attr = {.type = PERF_TYPE_SOFTWARE},
			.name = "cpu-clock",
			.sample_read = true},
		       {.attr = {.type = PERF_TYPE_SOFTWARE, .config = 2}, .name = "page-faults"}},
	};
	struct tally_plan plan;

	(void)state;
	make(&asked, &plan);
	assert_true(plan.events[0].attr.sample_type & PERF_SAMPLE_READ);
	assert_true(plan.events[0].attr.read_format & PERF_FORMAT_GROUP);
	assert_int_equal(plan.events[0].attr.inherit, 0);
	assert_int_equal(plan.events[0].attr.disabled, 1);
	/* The member is read with its leader and samples nothing itself. */
	assert_int_equal(plan.events[1].attr.sample_period, 0);
	assert_int_equal(plan.events[1].attr.freq, 0);
	assert_int_equal(plan.events[1].attr.disabled, 0);
	tally_plan_done(&plan);
}

static void test_delay(void **state)
{
	struct asked asked = {.options.delay_ms = 100};
	struct tally_plan plan;

	(void)state;
	make(&asked, &plan);
	/* The maps made meanwhile must be known. */
	assert_int_equal(plan.events[0].attr.enable_on_exec, 0);
	assert_int_equal(plan.events[1].attr.enable_on_exec, 1);
	tally_plan_done(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_default),    cmocka_unit_test(test_frequency_limit),
	    cmocka_unit_test(test_tracepoint), cmocka_unit_test(test_group_read),
	    cmocka_unit_test(test_delay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
