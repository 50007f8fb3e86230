/* Records of context switches become samples of blocked threads: which, with what period, stack and
 * time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <tally/abi.h>
#include "base/bytes.h"
#include "offcpu/blocked.h"
#include "offcpu/merge.h"

#define FIELDS                                                                          \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)
#define OUT     PERF_RECORD_MISC_SWITCH_OUT
#define PREEMPT (PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)

struct scene {
	struct tally_blocked *blocked;
	struct tally_blocked_options options;
	struct tally_buf made;
};

static void begin(struct scene *scene, uint64_t fields, uint64_t least_ns, bool last_stack)
{
	struct tally_attr attr = {.sample_type = fields, .sample_id_all = 1};

	*scene = (struct scene){.options = {.least_ns = least_ns, .last_stack = last_stack}};
	if (fields & PERF_SAMPLE_STACK_USER) {
		attr.sample_regs_user = 1;
		attr.sample_stack_user = 64;
	}
	tally_layout_init(&scene->options.layout, &attr);
	assert_int_equal(tally_blocked_new(&scene->options, &scene->blocked), 0);
}

static void end(struct scene *scene)
{
	tally_blocked_free(scene->blocked);
	tally_buf_done(&scene->made);
}

static void feed(struct scene *scene, const struct tally_body *body)
{
	uint8_t bytes[1024];
	int size = tally_record_encode(&scene->options.layout, body, bytes, sizeof(bytes));
	struct tally_record record = {
	    .bytes = bytes, .type = body->type, .misc = body->misc, .size = (uint16_t)size};

	assert_true(size > 0);
	assert_int_equal(tally_blocked_feed(scene->blocked, &record, &scene->made), 0);
}

static void sample(struct scene *scene, uint32_t tid, uint64_t time, uint64_t place)
{
	const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000000,
				  (uint64_t)PERF_CONTEXT_USER, place, place + 0x100};
	struct tally_body body = {
	    .size = sizeof(body),
	    .type = PERF_RECORD_SAMPLE,
	    .misc = PERF_RECORD_MISC_KERNEL,
	    .sample = {.size = sizeof(body.sample),
		       .present = FIELDS,
		       .identifier = 7,
		       .ip = 0xffffffff81000000,
		       .pid = 100,
		       .tid = tid,
		       .time = time,
		       .period = 1,
		       .callchain = chain,
		       .callchain_nr = place ? 5 : 2},
	};

	feed(scene, &body);
}

static void change(struct scene *scene, uint32_t tid, uint64_t time, uint16_t misc)
{
	struct tally_body body = {
	    .size = sizeof(body),
	    .type = PERF_RECORD_SWITCH,
	    .misc = misc,
	    .id = {.pid = 100, .tid = tid, .time = time, .identifier = 7},
	};

	body.id.present = FIELDS & (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
				    PERF_SAMPLE_IDENTIFIER);
	feed(scene, &body);
}

static void leave(struct scene *scene, uint32_t tid, uint64_t time, uint64_t place, uint16_t misc)
{
	sample(scene, tid, time, place);
	change(scene, tid, time + 1, misc);
}

/* The samples that were made: tid, time, period and address of each, and their number. */
struct made {
	uint32_t tid;
	uint64_t time, period, ip;
	uint16_t misc;
};

static size_t made(struct scene *scene, struct made *to, size_t most)
{
	size_t count = 0;

	for (size_t at = 0; at < scene->made.size; count++) {
		struct perf_event_header header;
		struct tally_record record = {.bytes = scene->made.data + at, .offset = at};
		struct tally_body body = {.size = sizeof(body)};

		memcpy(&header, record.bytes, sizeof(header));
		record.type = header.type;
		record.misc = header.misc;
		record.size = header.size;
		assert_int_equal(header.type, PERF_RECORD_SAMPLE);
		assert_int_equal(tally_record_decode(&scene->options.layout, &record, &body, NULL),
				 0);
		assert_true(count < most);
		to[count] = (struct made){body.sample.tid, body.sample.time, body.sample.period,
					  body.sample.ip, header.misc};
		at += header.size;
	}
	return count;
}

static void the_time_between_leaving_and_return_is_the_period(void **state)
{
	struct scene scene;
	struct made list[4];

	(void)state;
	begin(&scene, FIELDS, 0, false);
	leave(&scene, 101, 1000, 0x400100, OUT);
	leave(&scene, 102, 2000, 0x400200, OUT);
	change(&scene, 101, 5001, 0);
	change(&scene, 102, 3001, 0);
	assert_int_equal(made(&scene, list, 4), 2);
	assert_int_equal(list[0].tid, 101);
	assert_int_equal(list[0].period, 4000);
	assert_int_equal(list[0].time, 5001);
	assert_int_equal(list[0].ip, 0x400100); /* in user space, as perf's */
	assert_int_equal(list[0].misc, PERF_RECORD_MISC_USER);
	assert_int_equal(list[1].tid, 102);
	assert_int_equal(list[1].period, 1000);
	assert_int_equal(tally_blocked_counts(scene.blocked)->ns, 5000);
	assert_int_equal(tally_blocked_counts(scene.blocked)->first_time, 3001);
	assert_int_equal(tally_blocked_counts(scene.blocked)->last_time, 5001);
	end(&scene);
}

static void who_is_preempted_is_not_blocked(void **state)
{
	struct scene scene;
	struct made list[4];

	(void)state;
	begin(&scene, FIELDS, 0, false);
	leave(&scene, 101, 1000, 0x400100, PREEMPT);
	change(&scene, 101, 2000, 0);
	leave(&scene, 101, 3000, 0x400200, OUT);
	change(&scene, 101, 3501, 0);
	assert_int_equal(made(&scene, list, 4), 1);
	assert_int_equal(list[0].ip, 0x400200);
	assert_int_equal(list[0].period, 500);
	end(&scene);
}

static void a_return_that_is_seen_before_the_leaving_counts(void **state)
{
	struct scene scene;
	struct made list[4];

	(void)state;
	begin(&scene, FIELDS, 0, false);
	change(&scene, 101, 500, 0); /* it ran before */
	change(&scene, 101, 2001, 0);
	leave(&scene, 101, 1000, 0x400100, OUT); /* of another CPU's ring, a pass later */
	leave(&scene, 101, 3000, 0x400200, OUT);
	change(&scene, 101, 3101, 0);
	assert_int_equal(made(&scene, list, 4), 2);
	assert_int_equal(list[0].period, 1000);
	assert_int_equal(list[0].time, 2001);
	assert_int_equal(list[1].period, 100);
	end(&scene);
}

static void threads_of_the_kernel_and_idle_cpus_are_left_out(void **state)
{
	struct scene scene;
	struct made list[4];

	(void)state;
	begin(&scene, FIELDS, 0, false);
	leave(&scene, 50, 1000, 0, OUT);
	change(&scene, 50, 2001, 0);
	leave(&scene, 0, 1000, 0x400100, OUT);
	change(&scene, 0, 2001, 0);
	assert_int_equal(made(&scene, list, 4), 0);
	end(&scene);
}

static void short_times_are_left_out_and_counted(void **state)
{
	struct scene scene;
	struct made list[4];

	(void)state;
	begin(&scene, FIELDS, 1000, false);
	leave(&scene, 101, 1000, 0x400100, OUT);
	change(&scene, 101, 2000, 0); /* 999 ns */
	leave(&scene, 101, 3000, 0x400100, OUT);
	change(&scene, 101, 4001, 0);
	assert_int_equal(made(&scene, list, 4), 1);
	assert_int_equal(list[0].period, 1000);
	assert_int_equal(tally_blocked_counts(scene.blocked)->short_ones, 1);
	end(&scene);
}

static bool all_live(uint32_t tid)
{
	return tid != 103;
}

static void who_is_blocked_at_the_end_is_blocked_until_then(void **state)
{
	const uint32_t exit_of_102[4] = {100, 1, 102, 1};
	struct scene scene;
	struct made list[4];
	struct tally_record record;
	struct {
		struct perf_event_header header;
		uint32_t ids[4];
	} gone = {.header = {.type = PERF_RECORD_EXIT, .size = sizeof(gone)}};

	(void)state;
	begin(&scene, FIELDS, 0, false);
	leave(&scene, 101, 1000, 0x400100, OUT);
	leave(&scene, 102, 1000, 0x400200, OUT);
	leave(&scene, 103, 1000, 0x400300, OUT);
	memcpy(gone.ids, exit_of_102, sizeof(gone.ids));
	record = (struct tally_record){
	    .bytes = (const uint8_t *)&gone, .type = PERF_RECORD_EXIT, .size = sizeof(gone)};
	assert_int_equal(tally_blocked_feed(scene.blocked, &record, &scene.made), 0);
	assert_int_equal(tally_blocked_end(scene.blocked, 9001, all_live, &scene.made), 0);
	assert_int_equal(made(&scene, list, 4), 1);
	assert_int_equal(list[0].tid, 101);
	assert_int_equal(list[0].period, 8000);
	assert_int_equal(list[0].time, 9001);
	end(&scene);
}

static void without_rights_the_last_sample_stands_for_the_place(void **state)
{
	struct scene scene;
	struct made list[4];

	(void)state;
	begin(&scene, FIELDS, 0, true);
	change(&scene, 101, 1000, OUT);
	change(&scene, 101, 1500, 0); /* no sample yet: the time counts, too */
	sample(&scene, 101, 1600, 0x400100);
	change(&scene, 101, 2000, OUT);
	change(&scene, 101, 2300, 0);
	change(&scene, 101, 2400, OUT);
	change(&scene, 101, 2500, 0);
	assert_int_equal(made(&scene, list, 4), 3);
	assert_int_equal(list[0].ip, 0);
	assert_int_equal(list[0].period, 500);
	assert_int_equal(list[0].tid, 101);
	assert_int_equal(list[1].ip, 0x400100);
	assert_int_equal(list[1].period, 300);
	assert_int_equal(list[2].ip, 0x400100);
	assert_int_equal(list[2].period, 100);
	end(&scene);
}

static void a_copy_of_the_stack_is_kept_as_long_as_the_stack_is(void **state)
{
	const uint64_t fields = FIELDS | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_USER, 0x400100}, registers[] = {5};
	uint8_t stack[64];
	struct tally_sample got = {.size = sizeof(got)};
	struct tally_record record;
	struct perf_event_header header;
	struct scene scene;
	struct tally_body body = {
	    .size = sizeof(body),
	    .type = PERF_RECORD_SAMPLE,
	    .sample = {.size = sizeof(body.sample),
		       .present = fields,
		       .pid = 100,
		       .tid = 101,
		       .time = 1000,
		       .callchain = chain,
		       .callchain_nr = 2,
		       .user_abi = 2,
		       .user_regs = registers,
		       .user_regs_mask = 1,
		       .user_stack = stack,
		       .user_stack_size = 64,
		       .user_stack_dyn_size = 20},
	};

	(void)state;
	memset(stack, 0xab, sizeof(stack));
	begin(&scene, fields, 0, false);
	feed(&scene, &body);
	change(&scene, 101, 1001, OUT);
	change(&scene, 101, 2001, 0);
	memcpy(&header, scene.made.data, sizeof(header));
	assert_int_equal(header.size, scene.made.size);
	record = (struct tally_record){.bytes = scene.made.data,
				       .type = header.type,
				       .misc = header.misc,
				       .size = header.size};
	memset(&body, 0, sizeof(body));
	body.size = sizeof(body);
	assert_int_equal(tally_record_decode(&scene.options.layout, &record, &body, NULL), 0);
	got = body.sample;
	assert_int_equal(got.user_stack_size, 24);
	assert_int_equal(got.user_stack_dyn_size, 20);
	assert_int_equal(got.user_stack[19], 0xab);
	assert_int_equal(got.period, 1000);
	end(&scene);
}

static void threads_that_ended_take_no_room(void **state)
{
	struct scene scene;
	struct made list[4];

	(void)state;
	begin(&scene, FIELDS, 0, false);
	for (uint32_t tid = 1000; tid < 30000; tid++) {
		struct {
			struct perf_event_header header;
			uint32_t ids[4];
		} gone = {.header = {.type = PERF_RECORD_EXIT, .size = sizeof(gone)},
			  .ids = {100, 1, tid, 1}};
		const struct tally_record record = {.bytes = (const uint8_t *)&gone,
						    .type = PERF_RECORD_EXIT,
						    .size = sizeof(gone)};

		leave(&scene, tid, tid * 10ULL, 0x400100, OUT);
		assert_int_equal(tally_blocked_feed(scene.blocked, &record, &scene.made), 0);
	}
	leave(&scene, 1000, 900000, 0x400100, OUT);
	change(&scene, 1000, 900011, 0);
	assert_int_equal(made(&scene, list, 4), 1);
	assert_int_equal(list[0].period, 10);
	end(&scene);
}

static void rings_are_merged_by_time(void **state)
{
	static const uint8_t names[8];
	struct tally_timed items[] = {{1, names},     {5, names + 1}, {9, names + 2},
				      {2, names + 3}, {5, names + 4}, {7, names + 5},
				      {0, names + 6}, {9, names + 7}};
	static const size_t order[] = {6, 0, 3, 1, 4, 5, 2, 7};
	struct tally_timed room[8];

	(void)state;
	tally_timed_sort(items, room, 8);
	for (size_t i = 0; i < 8; i++)
		assert_ptr_equal(items[i].bytes, names + order[i]);
	tally_timed_sort(items, room, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_time_between_leaving_and_return_is_the_period),
	    cmocka_unit_test(who_is_preempted_is_not_blocked),
	    cmocka_unit_test(a_return_that_is_seen_before_the_leaving_counts),
	    cmocka_unit_test(threads_of_the_kernel_and_idle_cpus_are_left_out),
	    cmocka_unit_test(short_times_are_left_out_and_counted),
	    cmocka_unit_test(who_is_blocked_at_the_end_is_blocked_until_then),
	    cmocka_unit_test(without_rights_the_last_sample_stands_for_the_place),
	    cmocka_unit_test(a_copy_of_the_stack_is_kept_as_long_as_the_stack_is),
	    cmocka_unit_test(threads_that_ended_take_no_room),
	    cmocka_unit_test(rings_are_merged_by_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
