/* Attrs as they are opened: frequency, period, sampling fields, the side-band. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>
#include <tally/abi.h>
#include "collect/event_plan.h"

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
	struct tally_targets targets = {
	    .command = !asked->options.system_wide,
	    .system_wide = asked->options.system_wide,
	};
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
	/* A mapping wakes the recorder, which looks at the binary while the process lives. */
	assert_true(plan.events[1].attr.watermark && plan.events[1].attr.wakeup_watermark < 1000);
	tally_plan_done(&plan);
	/* Without it other recorders would get build-ids that are invalid. */
	asked.options.system_wide = true;
	make(&asked, &plan);
	assert_false(plan.events[1].attr.build_id);
	assert_true(plan.events[1].attr.mmap2);
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

/* The first event's every occurrence is a sample, with its data. */
static void make_of_each(struct asked *asked, struct tally_plan *ret)
{
	make(asked, ret);
	assert_int_equal(ret->events[0].attr.freq, 0);
	assert_int_equal(ret->events[0].attr.sample_period, 1);
	assert_true(ret->events[0].attr.sample_type & PERF_SAMPLE_RAW);
}

static void test_tracepoint(void **state)
{
	struct asked asked = {
	    .list.count = 1,
	    .events = {{.attr = {.type = PERF_TYPE_TRACEPOINT, .config = 300}, .name = "a:b"}},
	};
	struct tally_plan plan;

	(void)state;
	make_of_each(&asked, &plan);
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
	/* Alone there is no group to read, and children are recorded. */
	asked.list.count = 1;
	make(&asked, &plan);
	assert_true(plan.events[0].attr.sample_type & PERF_SAMPLE_READ);
	assert_false(plan.events[0].attr.read_format & PERF_FORMAT_GROUP);
	assert_int_equal(plan.events[0].attr.inherit, 1);
	tally_plan_done(&plan);
}

static void test_bpf_output(void **state)
{
	struct asked asked = {
	    .list.count = 1,
	    .events = {{.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_BPF_OUTPUT},
			.name = "bpf-output"}},
	};
	struct tally_plan plan;

	(void)state;
	make_of_each(&asked, &plan);
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

/* Reasoned from perf-record(1); each is also what perf 6.1 writes (tests/agree/terms.bats). */
static void test_terms(void **state)
{
	static const uint64_t copies = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
				       PERF_SAMPLE_STACK_USER | PERF_SAMPLE_ADDR |
				       PERF_SAMPLE_DATA_SRC;
	static const uint64_t beside = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC,
			      unwound = copies & ~beside;
	static const struct {
		struct tally_event_terms terms;
		bool global_auto, unwinds; /* unwinds: by the recorder; else stacks are kept */
		const char *global;
		uint64_t has, lacks; /* bits of sample_type */
		uint32_t stack;
		uint16_t frames;
	} cases[] = {
	    {.lacks = copies},
	    {.global = "fp", .has = PERF_SAMPLE_CALLCHAIN, .lacks = PERF_SAMPLE_STACK_USER},
	    /* 15.1: -g is auto, and what is unwound while recording does not go to the file */
	    {.global_auto = true, .unwinds = true, .has = unwound, .lacks = beside, .stack = 65528},
	    {.global = "auto", .unwinds = true, .has = unwound, .lacks = beside, .stack = 65528},
	    {.global = "dwarf", .unwinds = true, .has = unwound, .lacks = beside, .stack = 65528},
	    {.global = "dwarf,100", .unwinds = true, .has = unwound, .stack = 104},
	    {.terms = {.given = TALLY_TERM_OVERWRITE, .overwrite = true},
	     .global = "auto",
	     .unwinds = true,
	     .has = PERF_SAMPLE_CALLCHAIN,
	     .lacks = PERF_SAMPLE_STACK_USER},
	    {.global = "auto", .has = copies, .stack = 8192},
	    {.global = "dwarf", .has = copies, .stack = 8192},
	    {.global = "dwarf,100", .has = copies, .stack = 104},
	    {.global = "no", .global_auto = true, .lacks = copies},
	    {.terms = {.given = TALLY_TERM_CALL_GRAPH, .call_graph = (char *)"no"},
	     .global = "dwarf",
	     .lacks = copies},
	    {.terms = {.given = TALLY_TERM_CALL_GRAPH, .call_graph = (char *)"dwarf,65528"},
	     .has = copies,
	     .stack = 65528},
	    {.terms = {.given = TALLY_TERM_CALL_GRAPH | TALLY_TERM_STACK_SIZE,
		       .call_graph = (char *)"dwarf",
		       .stack_size = 4096},
	     .has = copies,
	     .stack = 4096},
	    {.terms = {.given = TALLY_TERM_STACK_SIZE, .stack_size = 16},
	     .global = "dwarf",
	     .has = copies,
	     .stack = 16},
	    {.terms = {.given = TALLY_TERM_MAX_STACK, .max_stack = 7},
	     .has = PERF_SAMPLE_CALLCHAIN,
	     .lacks = PERF_SAMPLE_STACK_USER,
	     .frames = 7},
	    {.terms = {.given = TALLY_TERM_CALL_GRAPH, .call_graph = (char *)"lbr"},
	     .has = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK},
	    {.terms = {.given = TALLY_TERM_TIME}, .lacks = PERF_SAMPLE_TIME},
	    {.terms = {.given = TALLY_TERM_TIME, .time = true}, .has = PERF_SAMPLE_TIME},
	    {.terms = {.given = TALLY_TERM_PERIOD}, .lacks = PERF_SAMPLE_PERIOD},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct asked asked = {.list.count = 1,
				      .options = {.callchain = cases[i].global_auto,
						  .call_graph = cases[i].global,
						  .keep_stacks = !cases[i].unwinds}};
		const struct tally_attr *attr;
		struct tally_attr written;
		bool kept = cases[i].stack && !cases[i].unwinds;
		struct tally_plan plan;

		asked.events[0] =
		    (struct tally_event){.name = (char *)"x", .terms = cases[i].terms};
		make(&asked, &plan);
		attr = &plan.events[0].attr;
		if ((attr->sample_type & cases[i].has) != cases[i].has ||
		    attr->sample_type & cases[i].lacks)
			fail_msg("case %zu: sample_type %#llx", i,
				 (unsigned long long)attr->sample_type);
		assert_int_equal(attr->sample_stack_user, cases[i].stack);
		assert_int_equal(attr->sample_max_stack, cases[i].frames);
		assert_int_equal(attr->exclude_callchain_user, kept);
		assert_int_equal(plan.events[0].unwinds, cases[i].stack && cases[i].unwinds);
		written = tally_plan_file_attr(&plan.events[0]);
		assert_int_equal(written.sample_stack_user, kept ? cases[i].stack : 0);
		assert_int_equal((written.sample_type & PERF_SAMPLE_REGS_USER) != 0, kept);
		assert_int_equal(attr->sample_regs_user != 0, cases[i].stack != 0);
		/* 15.5: chains by frame pointers are deferred where the kernel can. */
		assert_int_equal(attr->defer_callchain,
				 attr->sample_type & PERF_SAMPLE_CALLCHAIN && !cases[i].stack &&
				     !attr->write_backward &&
				     !(attr->sample_type & PERF_SAMPLE_BRANCH_STACK));
		assert_int_equal(attr->defer_output, 0);
		if (attr->defer_callchain)
			assert_int_equal(plan.events[1].attr.defer_output, 1);
		/* What is read while unwinding may be mapped as data. */
		assert_int_equal(plan.events[1].attr.mmap_data, kept);
		assert_ptr_equal(tally_plan_timed(&plan),
				 attr->sample_type & PERF_SAMPLE_TIME ? attr : NULL);
		tally_plan_done(&plan);
	}
}

/* A ring of 2 MiB, which an ordinary user has, is to hold what comes in some milliseconds. */
static void test_stacks_fit_their_ring(void **state)
{
	static const struct {
		uint64_t frequency;
		const char *call_graph;
		uint32_t chosen, size; /* chosen: 0, they stay */
	} cases[] = {
	    {1000, "auto", 0, 65528},        {4000, "auto", 32768, 32768},
	    {5000, "auto", 16384, 16384},    {20000, "auto", 8192, 8192},
	    {4000, "dwarf,65528", 0, 65528},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct asked asked = {.options = {.call_graph = cases[i].call_graph,
						  .frequency = cases[i].frequency}};
		struct tally_plan plan;

		make(&asked, &plan);
		assert_int_equal(tally_plan_fit_stacks(&plan, 2 << 20), cases[i].chosen);
		assert_int_equal(plan.events[0].attr.sample_stack_user, cases[i].size);
		tally_plan_done(&plan);
	}
}

static void test_terms_of_the_attr(void **state)
{
	struct asked asked = {.list.count = 3};
	struct tally_plan plan;

	(void)state;
	asked.events[0] =
	    (struct tally_event){.name = (char *)"a", .terms = {.given = TALLY_TERM_INHERIT}};
	asked.events[1] =
	    (struct tally_event){.name = (char *)"b",
				 .leader = 1,
				 .terms = {.given = TALLY_TERM_OVERWRITE | TALLY_TERM_INHERIT,
					   .overwrite = true,
					   .inherit = true}};
	asked.events[2] =
	    (struct tally_event){.name = (char *)"c",
				 .leader = 2,
				 .attr = {.branch_sample_type = PERF_SAMPLE_BRANCH_ANY},
				 .terms = {.given = TALLY_TERM_BRANCH_TYPE}};
	make(&asked, &plan);
	assert_int_equal(plan.events[0].attr.inherit, 0);
	assert_int_equal(plan.events[0].attr.write_backward, 0);
	assert_int_equal(plan.events[1].attr.inherit, 1);
	assert_int_equal(plan.events[1].attr.write_backward, 1);
	assert_true(plan.events[2].attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
	tally_plan_done(&plan);
}

static void test_terms_refused(void **state)
{
	static const struct {
		struct tally_event_terms terms;
		const char *says;
	} cases[] = {
	    {{.given = TALLY_TERM_CALL_GRAPH, .call_graph = (char *)"odd"},
	     "call-graph is auto, fp"},
	    {{.given = TALLY_TERM_CALL_GRAPH, .call_graph = (char *)"dwarf,65536"}, "8 to 65528"},
	    {{.given = TALLY_TERM_CALL_GRAPH, .call_graph = (char *)"dwarf,x"},
	     "call-graph is auto, fp"},
	    {{.given = TALLY_TERM_STACK_SIZE, .stack_size = 16}, "add call-graph=dwarf"},
	    {{.given = TALLY_TERM_MAX_STACK, .max_stack = 70000}, "at most 65535"},
	    {{.given = TALLY_TERM_MAX_EVENTS}, "leave it out"},
	    {{.given = TALLY_TERM_PERCORE}, "leave it out"},
	    {{.given = TALLY_TERM_DRIVER, .driver = (char *)"sink"}, "leave them out"},
	};
	struct tally_limits limits = {.max_sample_rate = 50000};
	struct tally_targets targets = {.command = true};
	struct tally_notice notice = {NULL, NULL};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_event event = {.name = (char *)"x", .terms = cases[i].terms};
		struct tally_event_list list = {&event, 1};
		struct tally_recorder_options options = {.events = &list};
		struct tally_plan plan;
		struct tally_error error;

		assert_true(tally_plan_make(&options, &limits, &targets, &notice, &plan, &error) <
			    0);
		assert_non_null(strstr(error.text, cases[i].says));
	}
}

/* 13.11: samples and side-band have one clock, or cannot be put in order. */
static void test_clock(void **state)
{
	struct tally_attr attr = {.type = PERF_TYPE_SOFTWARE, .use_clockid = 1, .clockid = 4};
	struct asked asked = {
	    .list.count = 2,
	    .events = {{.attr = attr, .name = (char *)"a"}, {.attr = attr, .name = (char *)"b"}},
	};
	struct tally_limits limits = {.max_sample_rate = 50000};
	struct tally_targets targets = {.command = true};
	struct tally_notice notice = {NULL, NULL};
	struct tally_plan plan;
	struct tally_error error = {0};

	(void)state;
	asked.events[1].leader = 1;
	make(&asked, &plan);
	assert_int_equal(plan.events[2].attr.use_clockid, 1);
	assert_int_equal(plan.events[2].attr.clockid, 4);
	tally_plan_done(&plan);
	for (unsigned i = 0; i < 2; i++) {
		asked.events[i].attr.clockid = 1;
		if (i)
			asked.events[1].attr.use_clockid = 0;
		assert_int_equal(
		    tally_plan_make(&asked.options, &limits, &targets, &notice, &plan, &error),
		    -EINVAL);
		assert_non_null(strstr(error.text, "a and b have different clocks"));
	}
	asked.events[0].attr.use_clockid = 0;
	asked.events[0].attr.clockid = 0;
	make(&asked, &plan);
	assert_int_equal(plan.events[2].attr.use_clockid, 0);
	tally_plan_done(&plan);
}

static void test_a_place_is_found_first(void **state)
{
	struct tally_event_probe probe = {.resolved = true};
	struct tally_event event = {.name = (char *)"x", .probe = &probe};
	struct asked asked = {.list.count = 1};
	struct tally_limits limits = {.max_sample_rate = 50000};
	struct tally_targets targets = {.command = true};
	struct tally_notice notice = {NULL, NULL};
	struct tally_plan plan;
	struct tally_error error;

	(void)state;
	asked.events[0] = event;
	make(&asked, &plan);
	assert_int_equal(plan.events[0].attr.sample_period, 1); /* each passing is a sample */
	assert_int_equal(plan.events[0].attr.freq, 0);
	tally_plan_done(&plan);
	probe.resolved = false;
	assert_int_equal(tally_plan_make(&asked.options, &limits, &targets, &notice, &plan, &error),
			 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_clock),
	    cmocka_unit_test(test_default),
	    cmocka_unit_test(test_frequency_limit),
	    cmocka_unit_test(test_tracepoint),
	    cmocka_unit_test(test_group_read),
	    cmocka_unit_test(test_bpf_output),
	    cmocka_unit_test(test_delay),
	    cmocka_unit_test(test_terms),
	    cmocka_unit_test(test_stacks_fit_their_ring),
	    cmocka_unit_test(test_terms_of_the_attr),
	    cmocka_unit_test(test_terms_refused),
	    cmocka_unit_test(test_a_place_is_found_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
