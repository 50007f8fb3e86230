/* What registers hold where ways through code meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "types/held.h"

static struct held pointer(type_ref type, int64_t offset)
{
	return (struct held){.kind = HELD_POINTER, .type = type, .offset = offset, .size = 24};
}

static void what_both_ways_say_is_kept(void **state)
{
	struct held_state to = {.slots = {{.at = -8, .held = pointer(3, 0)}}}, from = to;

	(void)state;
	to.registers[1] = from.registers[1] = pointer(5, 8);
	to.registers[2] = pointer(5, 8);
	from.registers[2] = pointer(6, 8);
	from.registers[3] = pointer(5, 0);
	assert_true(tally_held_merge(&to, &from));
	assert_int_equal(to.registers[1].kind, HELD_POINTER);
	assert_int_equal(to.registers[2].kind, HELD_NOTHING);
	assert_int_equal(to.registers[3].kind, HELD_NOTHING);
	assert_int_equal(tally_held_slot(&to, -8).kind, HELD_POINTER);
	assert_false(tally_held_merge(&to, &from));
	from.slots[0].held.kind = HELD_NOTHING;
	assert_true(tally_held_merge(&to, &from));
	assert_int_equal(tally_held_slot(&to, -8).kind, HELD_NOTHING);
}

static void elements_of_one_array_are_the_same(void **state)
{
	struct held_state to = {.registers[0] = pointer(5, 8)};
	struct held_state from = {.registers[0] = pointer(5, 56)};

	(void)state;
	assert_true(tally_held_merge(&to, &from));
	assert_int_equal(to.registers[0].offset, 8);
	assert_true(to.registers[0].moved);
	from.registers[0] = pointer(5, 16);
	assert_true(tally_held_merge(&to, &from));
	assert_int_equal(to.registers[0].kind, HELD_NOTHING);
}

static void sums_go_on_in_the_object_or_to_the_next(void **state)
{
	const struct held first = pointer(5, 8);
	struct held sum = tally_held_add(&first, 4);

	(void)state;
	assert_true(sum.offset == 12 && !sum.moved);
	sum = tally_held_add(&first, -48);
	assert_true(sum.offset == 8 && sum.moved);
	sum = tally_held_add(&first, 0);
	assert_true(sum.offset == 8 && !sum.moved);
	sum = tally_held_add(&(struct held){.kind = HELD_NOTHING}, 8);
	assert_int_equal(sum.kind, HELD_NOTHING);
}

static void places_of_the_frame_are_stored_and_forgotten(void **state)
{
	const struct held nothing = {.kind = HELD_NOTHING}, one = pointer(5, 0);
	struct held_state state_of = {.slots = {{0}}};

	(void)state;
	for (int64_t i = 0; i < HELD_SLOTS + 4; i++) /* those behind have no room */
		tally_held_store(&state_of, -8 * i, &one);
	assert_int_equal(tally_held_slot(&state_of, 0).kind, HELD_POINTER);
	assert_int_equal(tally_held_slot(&state_of, -8 * HELD_SLOTS).kind, HELD_NOTHING);
	tally_held_store(&state_of, 0, &nothing);
	assert_int_equal(tally_held_slot(&state_of, 0).kind, HELD_NOTHING);
	tally_held_store(&state_of, -8 * HELD_SLOTS, &one);
	assert_int_equal(tally_held_slot(&state_of, -8 * HELD_SLOTS).kind, HELD_POINTER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_both_ways_say_is_kept),
	    cmocka_unit_test(elements_of_one_array_are_the_same),
	    cmocka_unit_test(sums_go_on_in_the_object_or_to_the_next),
	    cmocka_unit_test(places_of_the_frame_are_stored_and_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
