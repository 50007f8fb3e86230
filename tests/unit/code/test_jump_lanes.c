/* Arrows of jumps: which lanes they take, and how they are drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "code/jump_lanes.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void draw(struct tally_jump *jumps, size_t count, size_t rows, int utf8,
		 const char *const *expected)
{
	struct jump_row drawn[32];
	int lanes = tally_jump_lanes(jumps, count, drawn, rows);

	assert_true(lanes >= 0);
	for (size_t i = 0; i < rows; i++) {
		char text[JUMP_TEXT_ROOM];

		tally_jump_text(&drawn[i], (unsigned)lanes, utf8, text);
		assert_string_equal(text, expected[i]);
	}
}

static void one_jump_is_one_lane(void **state)
{
	struct tally_jump forward[] = {{0, 2}}, back[] = {{2, 0}};
	static const char *const down[] = {"+-- ", "|   ", "+-> "};
	static const char *const up[] = {"+-> ", "|   ", "+-- "};

	(void)state;
	draw(forward, 1, 3, 0, down);
	draw(back, 1, 3, 0, up);
}

static void jumps_to_one_instruction_share_a_lane(void **state)
{
	struct tally_jump jumps[] = {{0, 3}, {1, 3}, {4, 3}};
	static const char *const text[] = {"┌── ", "├── ", "│   ", "├─▸ ", "└── "};

	(void)state;
	draw(jumps, COUNT(jumps), 5, 1, text);
}

static void the_longer_arrow_is_outside_and_crosses_nothing_wrongly(void **state)
{
	struct tally_jump jumps[] = {{0, 4}, {1, 3}};
	static const char *const text[] = {"+---- ", "| +-- ", "| |   ", "| +-> ", "+---> "};

	(void)state;
	draw(jumps, COUNT(jumps), 5, 0, text);
}

static void arrows_that_cross(void **state)
{
	struct tally_jump jumps[] = {{0, 2}, {1, 3}};
	static const char *const text[] = {"  +-- ", "+-|-- ", "| +-> ", "+---> "};

	(void)state;
	draw(jumps, COUNT(jumps), 4, 0, text);
}

static void a_jump_to_itself_or_far_away_is_not_drawn(void **state)
{
	struct tally_jump jumps[] = {{1, 1}};
	static const char *const text[] = {"  ", "  ", "  "};
	size_t many = JUMP_LANES_REACH + 10;
	struct tally_jump far[] = {{0, (uint32_t)many - 1}};
	struct jump_row *rows = calloc(many, sizeof(*rows));

	(void)state;
	draw(jumps, 1, 3, 0, text);
	assert_non_null(rows);
	assert_int_equal(tally_jump_lanes(far, 1, rows, many), 0);
	free(rows);
}

static void no_more_lanes_than_there_are(void **state)
{
	struct tally_jump jumps[JUMP_LANES_MOST + 2];
	struct jump_row rows[2 * COUNT(jumps)];
	unsigned drawn = 0;

	(void)state;
	for (uint32_t i = 0; i < COUNT(jumps); i++)
		jumps[i] = (struct tally_jump){i, (uint32_t)(2 * COUNT(jumps)) - 1 - i};
	assert_int_equal(tally_jump_lanes(jumps, COUNT(jumps), rows, COUNT(rows)), JUMP_LANES_MOST);
	for (size_t i = 0; i < COUNT(rows); i++)
		drawn += rows[i].starts != JUMP_LANE_NONE;
	assert_int_equal(drawn, JUMP_LANES_MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_jump_is_one_lane),
	    cmocka_unit_test(jumps_to_one_instruction_share_a_lane),
	    cmocka_unit_test(the_longer_arrow_is_outside_and_crosses_nothing_wrongly),
	    cmocka_unit_test(arrows_that_cross),
	    cmocka_unit_test(a_jump_to_itself_or_far_away_is_not_drawn),
	    cmocka_unit_test(no_more_lanes_than_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
