#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
/* After the headers it needs. */
#include <cmocka.h>
#include "base/bytes.h"
#include "resolve/stacks.h"

#define ROOM 256U /* of a share's first table */

/* The frame, above one, whose stack without a caller is in the first share, at a slot of its table;
 * ROOM: at any. */
static uint32_t frame_at(uint32_t slot, uint32_t above)
{
	uint32_t frame = above + 1;

	while (hash_u64(frame) % STACKS_SHARES ||
	       (slot < ROOM && (hash_u64(frame) >> 32) % ROOM != slot))
		frame++;
	return frame;
}

static uint32_t walk(struct tally_stacks *stacks, struct stacks_numbers *numbers, uint32_t frame)
{
	uint32_t node = 0;

	assert_int_equal(tally_stacks_walk(stacks, numbers, 0, &frame, 1, &node), 0);
	assert_int_equal(stacks_frame(stacks, node), frame);
	return node;
}

/* A search for what is not there would go on for ever. */
static void a_table_without_a_free_slot_grows(void **state)
{
	struct stacks_numbers numbers = {0};
	struct tally_stacks stacks;
	uint32_t frames[ROOM], nodes[ROOM], last = 0, more;

	(void)state;
	alarm(60);
	assert_int_equal(tally_stacks_init(&stacks), 0);
	for (uint32_t i = 0; i < ROOM; i++) {
		frames[i] = frame_at(i, 0);
		last = frames[i] > last ? frames[i] : last;
		nodes[i] = walk(&stacks, &numbers, frames[i]);
	}
	more = frame_at(ROOM, last);
	assert_int_not_equal(walk(&stacks, &numbers, more), 0);
	for (uint32_t i = 0; i < ROOM; i++)
		assert_int_equal(walk(&stacks, &numbers, frames[i]), nodes[i]);
	alarm(0);
	tally_stacks_done(&stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_table_without_a_free_slot_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
