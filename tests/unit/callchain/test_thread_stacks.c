/* Chains that end with the copy of the stack, and what earlier samples of the thread know. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <tally/abi.h>
#include "callchain/thread_stacks.h"

/* The frames of calls within each other, [from, to) of the outermost 100, as the copy of a deep
 * stack or all of a flat one has them: each function calls itself from the same place. `seed`: of
 * what they contain. */
static uint32_t make(struct tally_stack_frame *frames, uint64_t from, uint64_t to, uint64_t seed)
{
	for (uint64_t i = from; i < to; i++)
		frames[i - from] =
		    (struct tally_stack_frame){.stack = 0x7000 + i * 48,
					       .address = i == 99 ? 0x400000 : 0x401234,
					       .contents = seed + i};
	if (to < 100)
		frames[to - 1 - from].contents = 0; /* its end is not in the copy */
	return (uint32_t)(to - from);
}

static int64_t next(struct tally_thread_stacks *stacks, uint64_t from, uint64_t to, uint64_t seed,
		    const struct tally_stack_frame **ret, bool *ret_whole)
{
	struct tally_stack_frame frames[100];
	const struct tally_stack_frames chain = {.frames = frames,
						 .count = make(frames, from, to, seed),
						 .whole = to == 100,
						 .cut = to < 100};

	return tally_thread_stacks_next(stacks, 7, 8, &chain, ret, ret_whole);
}

static void callers_beyond_the_copy_are_those_of_the_sample_before(void **state)
{
	struct tally_thread_stacks *stacks;
	const struct tally_stack_frame *callers;
	bool whole = false;

	(void)state;
	assert_int_equal(tally_thread_stacks_new(&stacks), 0);
	assert_int_equal(next(stacks, 50, 100, 1000, &callers, &whole), 0);
	assert_int_equal(next(stacks, 30, 70, 1000, &callers, &whole), 30);
	assert_true(whole);
	assert_int_equal(callers[0].stack, 0x7000 + 70 * 48);
	assert_int_equal(callers[29].address, 0x400000);
	/* What was found is known for the next one. */
	assert_int_equal(next(stacks, 0, 35, 1000, &callers, &whole), 65);
	assert_true(whole);
	assert_int_equal(callers[64].address, 0x400000);
	tally_thread_stacks_free(stacks);
}

static void calls_that_were_made_anew_are_not_taken_for_the_old_ones(void **state)
{
	struct tally_thread_stacks *stacks;
	const struct tally_stack_frame *callers;
	bool whole = false;

	(void)state;
	assert_int_equal(tally_thread_stacks_new(&stacks), 0);
	assert_int_equal(next(stacks, 50, 100, 1000, &callers, &whole), 0);
	/* At the same places, with the same return addresses. */
	assert_int_equal(next(stacks, 30, 70, 5000, &callers, &whole), 0);
	assert_false(whole);
	/* Nothing, or one frame alone, is in both. */
	assert_int_equal(next(stacks, 50, 100, 1000, &callers, &whole), 0);
	assert_int_equal(next(stacks, 10, 40, 1000, &callers, &whole), 0);
	assert_int_equal(next(stacks, 50, 100, 1000, &callers, &whole), 0);
	assert_int_equal(next(stacks, 30, 51, 1000, &callers, &whole), 0);
	tally_thread_stacks_free(stacks);
}

static void a_stack_is_that_of_its_thread_alone(void **state)
{
	struct tally_stack_frame frames[100];
	const struct tally_stack_frames other = {
	    .frames = frames, .count = make(frames, 30, 70, 1000), .cut = true};
	struct tally_thread_stacks *stacks;
	const struct tally_stack_frame *callers;
	bool whole = false;

	(void)state;
	assert_int_equal(tally_thread_stacks_new(&stacks), 0);
	assert_int_equal(next(stacks, 50, 100, 1000, &callers, &whole), 0);
	assert_int_equal(tally_thread_stacks_next(stacks, 9, 8, &other, &callers, &whole), 0);
	assert_int_equal(tally_thread_stacks_next(stacks, 7, 9, &other, &callers, &whole), 0);
	tally_thread_stacks_free(stacks);
}

static void the_frames_of_a_chain_are_those_in_its_copy(void **state)
{
	static const uint64_t words[] = {PERF_CONTEXT_USER, 0x1000, 0x2000, 0x3000, 0x4000};
	static const uint64_t stack[] = {0x7000, 0x7010, 0x7020, 0};
	static const uint8_t how[] = {TALLY_CHAIN_LEAF, TALLY_CHAIN_CFI, TALLY_CHAIN_CFI,
				      TALLY_CHAIN_SPLICED};
	static const uint8_t copy[0x20] = {1};
	const struct tally_chain chain = {
	    .words = words, .count = 5, .unwound = 1, .frames = how, .stack = stack};
	const struct tally_sample sample = {
	    .user_stack = copy, .user_stack_size = sizeof(copy), .user_stack_dyn_size = 0x1f};
	struct tally_stack_frame frames[4];

	(void)state;
	assert_int_equal(tally_stack_frames_of(&sample, &chain, frames), 3);
	assert_int_equal(frames[0].address, 0x1000);
	assert_int_not_equal(frames[0].contents, 0);
	assert_int_equal(frames[1].contents, 0); /* not all of it is valid */
	assert_int_equal(frames[2].stack, 0x7020);
	assert_int_equal(frames[2].contents, 0);
}

static void threads_of_days_take_no_more_room_than_some(void **state)
{
	static struct tally_stack_frame frames[2000];
	struct tally_stack_frames chain = {.frames = frames, .count = 2000, .whole = true};
	struct tally_thread_stacks *stacks;
	const struct tally_stack_frame *callers;
	bool whole = false;

	(void)state;
	assert_int_equal(tally_thread_stacks_new(&stacks), 0);
	for (uint32_t i = 0; i < 2000; i++)
		frames[i] = (struct tally_stack_frame){
		    .stack = 0x7000 + i * 48UL, .address = 0x400000 + i, .contents = i + 1};
	for (uint32_t tid = 1; tid <= 5000; tid++)
		assert_int_equal(
		    tally_thread_stacks_next(stacks, tid, tid, &chain, &callers, &whole), 0);
	assert_in_range(tally_thread_stacks_room(stacks), 2000, 256 << 10);
	/* The last one is known still. */
	chain = (struct tally_stack_frames){.frames = frames, .count = 500, .cut = true};
	assert_int_equal(tally_thread_stacks_next(stacks, 5000, 5000, &chain, &callers, &whole),
			 1500);
	assert_true(whole);
	tally_thread_stacks_free(stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(callers_beyond_the_copy_are_those_of_the_sample_before),
	    cmocka_unit_test(calls_that_were_made_anew_are_not_taken_for_the_old_ones),
	    cmocka_unit_test(a_stack_is_that_of_its_thread_alone),
	    cmocka_unit_test(the_frames_of_a_chain_are_those_in_its_copy),
	    cmocka_unit_test(threads_of_days_take_no_more_room_than_some),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
