/* 15.2: copies of stacks on their way from the rings to those who unwind: shortened to what is
 * valid, in memory, in a temporary file, given up. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <tally/abi.h>
#include "stacks/block_queue.h"

#define ID    77
#define STACK 4096
#define RING  (1U << 16)

struct scene {
	struct tally_planned planned[2];
	uint64_t id;
	struct tally_plan plan;
	struct tally_stack_events events;
	uint8_t *ring, *joined;
	size_t filled;
	struct tally_stack_copies copies;
};

static void begin(struct scene *scene)
{
	*scene = (struct scene){.id = ID, .copies.most = TALLY_STACK_COPY_MOST};
	scene->planned[0] = (struct tally_planned){
	    .attr = {.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME |
				    PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
				    PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT,
		     .sample_regs_user = 0x180,
		     .sample_stack_user = STACK},
	    .unwinds = true,
	    .ids = &scene->id,
	    .id_count = 1,
	};
	scene->plan = (struct tally_plan){scene->planned, 2};
	assert_int_equal(tally_stack_events_init(&scene->events, &scene->plan), 0);
	scene->ring = calloc(1, RING);
	scene->joined = malloc(65536);
	assert_non_null(scene->ring);
	assert_non_null(scene->joined);
}

static void end(struct scene *scene)
{
	tally_stack_events_done(&scene->events);
	free(scene->ring);
	free(scene->joined);
}

/* A sample as the kernel writes it: all of the stack's room, of which some bytes are valid. */
static void add_sample(struct scene *scene, uint64_t time, uint64_t valid)
{
	static uint8_t stack[STACK];
	const uint64_t chain[2] = {PERF_CONTEXT_USER, 0x1234}, regs[2] = {1, 2};
	struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_SAMPLE, .misc = 2};
	struct tally_sample *sample = &body.sample;
	int size;

	memset(stack, (int)time, valid);
	memset(stack + valid, 0xee, STACK - valid);
	sample->size = sizeof(*sample);
	sample->present = scene->planned[0].attr.sample_type;
	sample->identifier = ID;
	sample->time = time;
	sample->callchain_nr = 2;
	sample->callchain = chain;
	sample->user_abi = 2;
	sample->user_regs_mask = 0x180;
	sample->user_regs = regs;
	sample->user_stack = stack;
	sample->user_stack_size = STACK;
	sample->user_stack_dyn_size = valid;
	sample->weight = 99;
	size = tally_record_encode(&scene->events.rings[0], &body, scene->ring + scene->filled,
				   RING - scene->filled);
	assert_true(size > STACK);
	scene->filled += (size_t)size;
}

static struct tally_stack_block *take(struct scene *scene, struct tally_block_queue *queue,
				      size_t wrap_at)
{
	const struct tally_ring_bytes bytes = {.first = scene->ring,
					       .first_size = wrap_at,
					       .second = scene->ring + wrap_at,
					       .second_size = scene->filled - wrap_at};
	struct tally_stack_block *block = tally_block_queue_take_empty(queue);

	assert_non_null(block);
	assert_int_equal(tally_stack_block_add(block, &scene->events, &bytes, 0, scene->filled,
					       &scene->copies, scene->joined),
			 0);
	scene->filled = 0;
	return block;
}

/* The samples' times follow one another, and each has so many valid bytes of its stack. */
static void expect(const struct scene *scene, const struct tally_stack_block *block, uint64_t from,
		   const uint64_t *valid, size_t count)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		struct perf_event_header header;
		struct tally_record record = {.bytes = block->samples.data + at};
		struct tally_sample sample = {.size = sizeof(sample)};

		assert_true(at < block->samples.size);
		memcpy(&header, record.bytes, sizeof(header));
		record.type = header.type;
		record.misc = header.misc;
		record.size = header.size;
		assert_int_equal(tally_sample_decode(&scene->events.rings[0], &record, UINT64_MAX,
						     &sample, NULL),
				 0);
		assert_int_equal(sample.time, from + i);
		assert_int_equal(sample.callchain_nr, 2);
		assert_int_equal(sample.callchain[1], 0x1234);
		assert_int_equal(sample.user_regs[1], 2);
		assert_int_equal(sample.weight, 99);
		assert_int_equal(sample.user_stack_size, (valid[i] + 7) / 8 * 8);
		if (valid[i])
			assert_int_equal(sample.user_stack_dyn_size, valid[i]);
		for (uint64_t byte = 0; byte < valid[i]; byte++)
			assert_int_equal(sample.user_stack[byte], (uint8_t)(from + i));
		at += header.size;
	}
	assert_int_equal(at, block->samples.size);
}

static void copies_are_as_long_as_what_is_valid_wherever_the_ring_wraps(void **state)
{
	static const uint64_t valid[] = {16, STACK, 21, 0, 1000};
	struct tally_block_queue queue;
	struct scene scene;

	(void)state;
	begin(&scene);
	tally_block_queue_init(&queue, SIZE_MAX, 0);
	for (size_t wrap = 0; wrap <= 3 * 4400; wrap += 8 * 61) {
		struct tally_stack_block *block;

		for (uint64_t i = 0; i < 5; i++)
			add_sample(&scene, 10 + i, valid[i]);
		block = take(&scene, &queue, wrap);
		expect(&scene, block, 10, valid, 5);
		tally_block_queue_give(&queue, block);
	}
	assert_int_equal(scene.copies.cut, 0);
	tally_block_queue_done(&queue);
	end(&scene);
}

static void copies_are_cut_at_a_limit_and_counted(void **state)
{
	static const uint64_t valid[] = {64, 128, 128};
	struct tally_block_queue queue;
	struct tally_stack_block *block;
	struct scene scene;

	(void)state;
	begin(&scene);
	tally_block_queue_init(&queue, SIZE_MAX, 0);
	scene.copies.most = 128;
	add_sample(&scene, 1, 64);
	add_sample(&scene, 2, 128);
	add_sample(&scene, 3, 129);
	block = take(&scene, &queue, 0);
	expect(&scene, block, 1, valid, 3);
	assert_int_equal(scene.copies.cut, 1);
	tally_block_queue_give(&queue, block);
	tally_block_queue_done(&queue);
	end(&scene);
}

/* Four blocks of two samples into a queue that has room for one; the third of the others does not
 * fit into the file either. */
static void blocks_wait_in_a_file_and_then_lose_their_copies_in_their_order(void **state)
{
	static const uint64_t all[] = {2000, 2000}, none[] = {0, 0};
	struct tally_block_queue queue;
	struct tally_stack_block *block;
	struct scene scene;

	(void)state;
	begin(&scene);
	tally_block_queue_init(&queue, 5000, 9000);
	for (uint64_t i = 0; i < 4; i++) {
		add_sample(&scene, 10 + 2 * i, 2000);
		add_sample(&scene, 11 + 2 * i, 2000);
		block = take(&scene, &queue, 0);
		tally_block_queue_put(&queue, block, &scene.events, &scene.copies);
	}
	if (queue.file_failed)
		skip(); /* no folder for temporary files can be written */
	assert_true(queue.spilled > 8000);
	assert_int_equal(scene.copies.dropped, 2);
	tally_block_queue_end(&queue);
	for (uint64_t i = 0; i < 4; i++) {
		assert_int_equal(tally_block_queue_next(&queue, &block), 0);
		assert_non_null(block);
		expect(&scene, block, 10 + 2 * i, i == 3 ? none : all, 2);
		assert_int_equal(block->part_count, 1);
		assert_int_equal(block->parts[0], 0);
		tally_block_queue_give(&queue, block);
	}
	assert_int_equal(tally_block_queue_next(&queue, &block), 0);
	assert_null(block);
	tally_block_queue_done(&queue);
	end(&scene);
}

/* As when a file ends while the rings are still emptied. */
static void blocks_that_come_after_the_end_wait_for_the_next_file(void **state)
{
	static const uint64_t valid[] = {1000};
	struct tally_block_queue queue;
	struct tally_stack_block *block;
	struct scene scene;

	(void)state;
	begin(&scene);
	tally_block_queue_init(&queue, SIZE_MAX, 0);
	for (uint64_t i = 0; i < 5; i++) {
		if (i == 2)
			tally_block_queue_end(&queue);
		add_sample(&scene, 10 + i, 1000);
		tally_block_queue_put(&queue, take(&scene, &queue, 0), &scene.events,
				      &scene.copies);
	}
	for (uint64_t i = 0; i < 5; i++) {
		if (i == 2) {
			assert_int_equal(tally_block_queue_next(&queue, &block), 0);
			assert_null(block);
			tally_block_queue_begin(&queue);
			tally_block_queue_end(&queue);
		}
		assert_int_equal(tally_block_queue_next(&queue, &block), 0);
		assert_non_null(block);
		expect(&scene, block, 10 + i, valid, 1);
		tally_block_queue_give(&queue, block);
	}
	assert_int_equal(tally_block_queue_next(&queue, &block), 0);
	assert_null(block);
	assert_int_equal(queue.bytes, 0);
	tally_block_queue_done(&queue);
	end(&scene);
}

static void less_is_copied_when_much_waits(void **state)
{
	struct tally_block_queue queue;

	(void)state;
	tally_block_queue_init(&queue, 1000, 0);
	assert_int_equal(tally_block_queue_copy_most(&queue), TALLY_STACK_COPY_MOST);
	queue.bytes = 700;
	assert_int_equal(tally_block_queue_copy_most(&queue), TALLY_STACK_COPY_MOST);
	queue.bytes = 800;
	assert_int_equal(tally_block_queue_copy_most(&queue), 16384);
	tally_block_queue_done(&queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(copies_are_as_long_as_what_is_valid_wherever_the_ring_wraps),
	    cmocka_unit_test(copies_are_cut_at_a_limit_and_counted),
	    cmocka_unit_test(blocks_wait_in_a_file_and_then_lose_their_copies_in_their_order),
	    cmocka_unit_test(blocks_that_come_after_the_end_wait_for_the_next_file),
	    cmocka_unit_test(less_is_copied_when_much_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
