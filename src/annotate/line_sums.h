/* The samples of a listing by source line. */
#ifndef TALLY_ANNOTATE_LINE_SUMS_H
#define TALLY_ANNOTATE_LINE_SUMS_H

#include "annotate/listing.h"

struct line_sum {
	const char *file; /* NULL: no line is known */
	uint32_t line;
	uint32_t first, count; /* of the rows */
	uint64_t *samples, *periods;
	double share; /* for sorting: the largest share of the function's samples in an event */
};

struct line_sums {
	struct line_sum *lines; /* the hottest first */
	size_t count;
	uint32_t *rows; /* of the listing: those with samples, by line, and in order of addresses */
	uint64_t *numbers;
};

/* Lines that have samples.  For tally_line_sums_done().  0 or -ENOMEM. */
int tally_line_sums_make(const struct tally_listing *listing, struct line_sums *ret);
void tally_line_sums_done(struct line_sums *sums);

#endif
