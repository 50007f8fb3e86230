/* Where the functions of an export's stacks begin in their sources. */
#ifndef TALLY_CONVERT_FRAME_LINES_H
#define TALLY_CONVERT_FRAME_LINES_H

#include <stdint.h>
#include "convert/convert.h"
#include "convert/stack_table.h"

struct frame_line {
	const char *file; /* NULL: unknown */
	uint32_t line;
};

/* By frame of the stacks, for free().  0, -ECANCELED or -ENOMEM. */
int tally_frame_lines_make(struct convert *convert, const struct stack_table *stacks,
			   struct frame_line **ret);

#endif
