/* Events that write a trace: what they make of the attrs, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>
#include <tally/abi.h>
#include <unistd.h>
#include "collect/event_plan.h"

struct asked {
	struct tally_recorder_options options;
	struct tally_recorder_rings rings;
	struct tally_event_list list;
	struct tally_event events[4];
	struct tally_limits limits;
	bool system_wide, per_thread;
};

static struct asked trace_and(size_t others)
{
	struct asked asked = {
	    .rings = {.size = sizeof(asked.rings)},
	    .list.count = 1 + others,
	    .limits = {.paranoid = 2, .max_sample_rate = 50000},
	};

	asked.events[0] = (struct tally_event){.name = "intel_pt//", .pmu = "intel_pt"};
	asked.events[0].attr.type = 8;
	for (uint32_t i = 1; i <= others; i++)
		asked.events[i] = (struct tally_event){.name = "cycles"};
	return asked;
}

static int make(struct asked *asked, struct tally_plan *ret, struct tally_error *error)
{
	static uint32_t cpus[2] = {0, 1};
	struct tally_targets targets = {.command = !asked->system_wide,
					.system_wide = asked->system_wide,
					.per_thread = asked->per_thread,
					.cpus = cpus,
					.cpu_count = 2};
	struct tally_notice notice = {NULL, NULL};

	asked->options.size = sizeof(asked->options);
	asked->options.rings = &asked->rings;
	asked->list.events = asked->events;
	asked->options.events = &asked->list;
	return tally_plan_make(&asked->options, &asked->limits, &targets, &notice, ret, error);
}

static void refused(struct asked asked, const char *why)
{
	struct tally_plan plan;
	struct tally_error error = {0};

	assert_true(make(&asked, &plan, &error) < 0);
	if (!strstr(error.text, why))
		fail_msg("'%s' is not in: %s", why, error.text);
}

static void a_trace_has_an_area(void **state)
{
	struct asked asked = trace_and(1);
	struct tally_plan plan;
	struct tally_error error;

	(void)state;
	asked.events[1].leader = 1;
	asked.options.callchain = true;
	if (make(&asked, &plan, &error))
		fail_msg("%s", error.text);
	assert_ptr_equal(plan.aux.kind, &tally_aux_intel_pt);
	assert_int_equal(plan.aux.mode, TALLY_AUX_WHOLE);
	assert_int_equal(plan.aux.pages * (size_t)sysconf(_SC_PAGESIZE), 128 << 10);
	assert_int_equal(plan.events[0].attr.freq, 0);
	assert_int_equal(plan.events[0].attr.sample_period, 1);
	assert_int_equal(plan.events[0].attr.sample_type, PERF_SAMPLE_IP | PERF_SAMPLE_TID |
							      PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
							      PERF_SAMPLE_IDENTIFIER);
	/* Chains of the other event are by frame pointers: nobody would unwind copies. */
	assert_true(plan.events[1].attr.sample_type & PERF_SAMPLE_CALLCHAIN);
	assert_false(plan.events[1].attr.sample_type & PERF_SAMPLE_STACK_USER);
	assert_false(plan.events[1].unwinds);
	tally_plan_done(&plan);
	/* Who may lock memory gets more; a size that was given is taken. */
	asked.limits.ipc_lock = true;
	assert_int_equal(make(&asked, &plan, &error), 0);
	assert_int_equal(plan.aux.pages * (size_t)sysconf(_SC_PAGESIZE), 4 << 20);
	tally_plan_done(&plan);
	asked.rings.aux_pages = 8;
	assert_int_equal(make(&asked, &plan, &error), 0);
	assert_int_equal(plan.aux.pages, 8);
	tally_plan_done(&plan);
}

static void a_snapshot_fits_its_area(void **state)
{
	struct asked asked = trace_and(0);
	struct tally_plan plan;
	struct tally_error error;

	(void)state;
	asked.rings.aux_snapshot = true;
	asked.rings.aux_newest = 100000;
	if (make(&asked, &plan, &error))
		fail_msg("%s", error.text);
	assert_int_equal(plan.aux.mode, TALLY_AUX_SNAPSHOT);
	assert_int_equal(plan.aux.snapshot_size, 100000);
	assert_int_equal(plan.aux.pages * (size_t)sysconf(_SC_PAGESIZE), 128 << 10);
	tally_plan_done(&plan);
	asked.rings.aux_pages = 16;
	refused(asked, "does not fit into an AUX area of 65536");
	asked.rings = (struct tally_recorder_rings){.size = sizeof(asked.rings), .aux_pages = 1};
	refused(asked, "a power of two of pages, at least 2");
}

static void samples_have_parts_of_the_trace(void **state)
{
	struct asked asked = trace_and(2);
	struct tally_plan plan;
	struct tally_error error;

	(void)state;
	/* {intel_pt//,cycles,cycles/aux-sample-size=8192/} */
	asked.rings.aux_sample = 4096;
	asked.events[2].attr.aux_sample_size = 8192;
	asked.events[2].terms.given = TALLY_TERM_AUX_SAMPLE_SIZE;
	if (make(&asked, &plan, &error))
		fail_msg("%s", error.text);
	assert_int_equal(plan.aux.mode, TALLY_AUX_SAMPLED);
	assert_int_equal(plan.events[0].attr.aux_sample_size, 0);
	assert_int_equal(plan.events[1].attr.aux_sample_size, 4096);
	assert_int_equal(plan.events[2].attr.aux_sample_size, 8192);
	assert_true(plan.events[1].attr.sample_type & PERF_SAMPLE_AUX);
	assert_int_equal(plan.aux.pages * (size_t)sysconf(_SC_PAGESIZE), 8192);
	tally_plan_done(&plan);

	asked.events[2].attr.aux_sample_size = 61441;
	refused(asked, "at most 61440 bytes");
	asked.events[2].attr.aux_sample_size = 8192;
	asked.events[2].leader = 2;
	refused(asked, "only in the group that the trace's event leads");
	asked = trace_and(1);
	asked.events[1].leader = 1;
	asked.rings.aux_sample = 4096;
	refused(asked, "--aux-sample needs other events in the group of intel_pt//");
	asked.events[1].leader = 0;
	asked.rings.aux_snapshot = true;
	refused(asked, "in snapshots (-S) or in samples, not both");
	asked = trace_and(1);
	asked.events[0].pmu = "arm_spe_0";
	asked.rings.aux_sample = 4096;
	refused(asked, "samples cannot have parts of this trace");
}

static void samples_go_into_the_trace(void **state)
{
	struct asked asked = trace_and(2);
	struct tally_plan plan;
	struct tally_error error;

	(void)state;
	asked.events[1].terms.given = TALLY_TERM_AUX_OUTPUT;
	asked.events[1].terms.aux_output = true;
	assert_int_equal(make(&asked, &plan, &error), 0);
	assert_int_equal(plan.events[1].attr.aux_output, 1);
	tally_plan_done(&plan);
	asked.events[2].terms = asked.events[1].terms;
	refused(asked, "aux-output is for one event");
}

static void others_pause_the_trace(void **state)
{
	struct asked asked = trace_and(2);
	struct tally_plan plan;
	struct tally_error error;

	(void)state;
	/* {intel_pt/aux-action=start-paused/,cycles/aux-action=resume/,cycles/aux-action=pause/} */
	asked.events[0].attr.aux_start_paused = 1;
	asked.events[1].attr.aux_resume = 1;
	asked.events[2].attr.aux_pause = 1;
	assert_int_equal(make(&asked, &plan, &error), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(plan.events[i].attr.aux_action, asked.events[i].attr.aux_action);
	tally_plan_done(&plan);
	asked.events[1].attr.aux_start_paused = 1;
	refused(asked,
		"aux-action=start-paused is for the event that writes the trace: intel_pt//");
	asked.events[1].attr.aux_start_paused = 0;
	asked.events[2].leader = 2;
	refused(asked, "aux-action=pause is for events of the group");
	asked.events[2].leader = 0;
	asked.events[0].attr.aux_resume = 1;
	refused(asked, "aux-action=resume is for events of the group");
}

static void what_means_nothing_is_refused(void **state)
{
	struct asked asked = trace_and(1);

	(void)state;
	asked.events[1].pmu = "arm_spe_0";
	refused(asked, "intel_pt// and cycles both write a trace");
	asked = trace_and(0);
	asked.events[0].pmu = "intel_bts";
	refused(asked, "add --per-thread");
	asked.per_thread = true;
	{
		struct tally_plan plan;
		struct tally_error error;

		assert_int_equal(make(&asked, &plan, &error), 0);
		assert_false(plan.aux.per_cpu);
		tally_plan_done(&plan);
	}
	asked.events[0].pmu = "cs_etm";
	refused(asked, "leave out --per-thread");
	asked = trace_and(0);
	asked.events[0].attr.use_clockid = 1;
	refused(asked, "leave out -k");

	asked = trace_and(0);
	asked.events[0].pmu = "cpu";
	asked.rings.aux_snapshot = true;
	refused(asked, "snapshots (-S) are of traces");
	asked.rings.aux_snapshot = false;
	asked.rings.aux_sample = 1;
	refused(asked, "--aux-sample");
	asked.rings.aux_sample = 0;
	asked.rings.aux_pages = 64;
	refused(asked, "-m ,PAGES");
	asked.rings.aux_pages = 0;
	asked.events[0].terms.driver = (char[]){"tmc_etr0"};
	refused(asked, "CoreSight");
}

static void switches_are_asked_for_where_they_are_needed(void **state)
{
	struct asked asked = trace_and(0);
	struct tally_plan plan;
	struct tally_error error;

	(void)state;
	asked.events[0].pmu = "arm_spe_1";
	assert_int_equal(make(&asked, &plan, &error), 0);
	assert_int_equal(plan.events[1].attr.context_switch, 1);
	assert_false(plan.events[1].attr.watermark); /* each switch would wake the recorder */
	tally_plan_done(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_trace_has_an_area),
	    cmocka_unit_test(a_snapshot_fits_its_area),
	    cmocka_unit_test(samples_have_parts_of_the_trace),
	    cmocka_unit_test(samples_go_into_the_trace),
	    cmocka_unit_test(others_pause_the_trace),
	    cmocka_unit_test(what_means_nothing_is_refused),
	    cmocka_unit_test(switches_are_asked_for_where_they_are_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
