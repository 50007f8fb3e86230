/* Where the arrows of jumps are drawn beside a function's instructions.
 *
 * All jumps to one instruction are one arrow: a vertical line from the first to the last of its
 * instructions, which has a lane of its own there.  Short arrows are in the lanes next to the
 * text. */
#ifndef TALLY_CODE_JUMP_LANES_H
#define TALLY_CODE_JUMP_LANES_H

#include <stddef.h>
#include <stdint.h>

#define JUMP_LANES_MOST  8
#define JUMP_LANES_REACH 4096 /* instructions; longer arrows are not drawn */
#define JUMP_LANE_NONE   UINT8_MAX

struct tally_jump {
	uint32_t from, to; /* numbers of instructions */
};

/* Of one instruction.  Lanes count from the text outwards. */
struct jump_row {
	uint8_t up, down; /* a bit for each lane whose line goes on to the row before, or after */
	uint8_t starts,
	    ends; /* the lane of the arrow that leaves here, and that arrives; or none */
};

/* Fills rows[0..rows) and returns the number of lanes, or -ENOMEM.  Jumps that find no lane free
 * are not drawn.  The jumps are put into another order. */
int tally_jump_lanes(struct tally_jump *jumps, size_t count, struct jump_row *rows,
		     size_t row_count);

/* What is drawn in a row, for `lanes` lanes: 2 characters each and 2 for the head of an arrow, and
 * a NUL.  In UTF-8, or plain ASCII. */
#define JUMP_TEXT_ROOM ((JUMP_LANES_MOST + 1) * 2 * 3 + 1)
void tally_jump_text(const struct jump_row *row, unsigned lanes, int utf8,
		     char ret[JUMP_TEXT_ROOM]);

#endif
