#include "code/jump_lanes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* All jumps to one instruction. */
struct arrow {
	uint32_t first, last; /* rows that its line connects */
	size_t jumps, count;
};

static int by_target(const void *left, const void *right)
{
	const struct tally_jump *a = left, *b = right;

	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

static int by_length(const void *left, const void *right)
{
	const struct arrow *a = left, *b = right;
	uint32_t la = a->last - a->first, lb = b->last - b->first;

	if (la != lb)
		return la < lb ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* Arrows of sorted jumps. */
static size_t make_arrows(const struct tally_jump *jumps, size_t count, size_t row_count,
			  struct arrow *arrows)
{
	size_t made = 0;

	for (size_t i = 0, end; i < count; i = end) {
		struct arrow arrow = {.first = jumps[i].to, .last = jumps[i].to, .jumps = i};

		for (end = i; end < count && jumps[end].to == jumps[i].to; end++) {
			if (jumps[end].from < arrow.first)
				arrow.first = jumps[end].from;
			if (jumps[end].from > arrow.last)
				arrow.last = jumps[end].from;
		}
		arrow.count = end - i;
		if (arrow.last < row_count && arrow.last - arrow.first <= JUMP_LANES_REACH &&
		    arrow.last > arrow.first)
			arrows[made++] = arrow;
	}
	return made;
}

/* The innermost lane that is free in all rows of the arrow. */
static unsigned free_lane(const struct jump_row *rows, const uint8_t *used,
			  const struct arrow *arrow)
{
	unsigned taken = 0;

	(void)rows;
	for (uint32_t i = arrow->first; i <= arrow->last; i++)
		taken |= used[i];
	for (unsigned lane = 0; lane < JUMP_LANES_MOST; lane++)
		if (!(taken & 1U << lane))
			return lane;
	return JUMP_LANES_MOST;
}

static void draw(struct jump_row *rows, uint8_t *used, const struct arrow *arrow,
		 const struct tally_jump *jumps, unsigned lane)
{
	uint8_t bit = (uint8_t)(1U << lane);

	for (uint32_t i = arrow->first; i <= arrow->last; i++) {
		used[i] |= bit;
		if (i > arrow->first)
			rows[i].up |= bit;
		if (i < arrow->last)
			rows[i].down |= bit;
	}
	for (size_t i = arrow->jumps; i < arrow->jumps + arrow->count; i++)
		rows[jumps[i].from].starts = (uint8_t)lane;
	rows[jumps[arrow->jumps].to].ends = (uint8_t)lane;
}

int tally_jump_lanes(struct tally_jump *jumps, size_t count, struct jump_row *rows,
		     size_t row_count)
{
	struct arrow *arrows = malloc((count + 1) * sizeof(*arrows));
	uint8_t *used = calloc(row_count + 1, 1);
	size_t arrow_count;
	unsigned lanes = 0;

	if (!arrows || !used) {
		free(arrows);
		free(used);
		return -ENOMEM;
	}
	for (size_t i = 0; i < row_count; i++)
		rows[i] = (struct jump_row){.starts = JUMP_LANE_NONE, .ends = JUMP_LANE_NONE};
	if (count)
		qsort(jumps, count, sizeof(*jumps), by_target);
	arrow_count = make_arrows(jumps, count, row_count, arrows);
	if (arrow_count)
		qsort(arrows, arrow_count, sizeof(*arrows), by_length);
	for (size_t i = 0; i < arrow_count; i++) {
		unsigned lane = free_lane(rows, used, &arrows[i]);

		if (lane == JUMP_LANES_MOST)
			continue;
		draw(rows, used, &arrows[i], jumps, lane);
		lanes = lane >= lanes ? lane + 1 : lanes;
	}
	free(arrows);
	free(used);
	return (int)lanes;
}

/* Which sides of a character's place its lines reach. */
#define LINE_UP    1U
#define LINE_DOWN  2U
#define LINE_LEFT  4U
#define LINE_RIGHT 8U

static const char *const box[16] = {
    [0] = " ",
    [LINE_UP | LINE_DOWN] = "\u2502",
    [LINE_LEFT | LINE_RIGHT] = "\u2500",
    [LINE_UP | LINE_RIGHT] = "\u2514",
    [LINE_DOWN | LINE_RIGHT] = "\u250c",
    [LINE_UP | LINE_DOWN | LINE_RIGHT] = "\u251c",
    [LINE_UP | LINE_DOWN | LINE_LEFT | LINE_RIGHT] = "\u253c",
};

static const char *line_text(unsigned sides, bool utf8)
{
	unsigned vertical = sides & (LINE_UP | LINE_DOWN),
		 horizontal = sides & (LINE_LEFT | LINE_RIGHT);

	if (utf8)
		return box[sides] ? box[sides] : " ";
	if (vertical && horizontal)
		return horizontal == (LINE_LEFT | LINE_RIGHT) ? "|" : "+";
	return vertical ? "|" : horizontal ? "-" : " ";
}

void tally_jump_text(const struct jump_row *row, unsigned lanes, int utf8, char ret[JUMP_TEXT_ROOM])
{
	bool starts = row->starts != JUMP_LANE_NONE, ends = row->ends != JUMP_LANE_NONE;
	unsigned outermost = 0; /* lane that a horizontal line begins at, + 1 */
	char *at = ret;

	if (starts)
		outermost = row->starts + 1U;
	if (ends && row->ends >= outermost)
		outermost = row->ends + 1U;
	for (unsigned lane = lanes; lane-- > 0;) {
		unsigned sides =
		    (row->up >> lane & 1 ? LINE_UP : 0) | (row->down >> lane & 1 ? LINE_DOWN : 0);

		if ((starts && lane == row->starts) || (ends && lane == row->ends))
			sides |= LINE_RIGHT | (lane + 1 < outermost ? LINE_LEFT : 0);
		else if (lane + 1 < outermost)
			sides |= LINE_LEFT | LINE_RIGHT;
		at = stpcpy(at, line_text(sides, utf8));
		at = stpcpy(at, line_text(lane < outermost ? LINE_LEFT | LINE_RIGHT : 0, utf8));
	}
	at = stpcpy(at, ends ? (utf8 ? "\u25b8" : ">")
			     : line_text(outermost ? LINE_LEFT | LINE_RIGHT : 0, utf8));
	stpcpy(at, " ");
}
