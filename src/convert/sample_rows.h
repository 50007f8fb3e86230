/* The samples of an export one by one.  For formats that show time, or more of a sample than its
 * stack. */
#ifndef TALLY_CONVERT_SAMPLE_ROWS_H
#define TALLY_CONVERT_SAMPLE_ROWS_H

#include <stdint.h>
#include "convert/convert.h"

struct sample_row {
	const struct tally_batch *batch; /* and the row in it: for columns that are not below */
	uint32_t at;
	uint32_t event, cpu; /* cpu: UINT32_MAX if it was not recorded */
	uint32_t thread;     /* of the session */
	uint32_t frame, stack;
	uint64_t time, period;
	uint32_t pid, tid; /* UINT32_MAX if they were not recorded */
	const char *comm;
	unsigned worker; /* the thread that gives it, from 0 */
	struct tally_buf
	    *part; /* what is made of its part, of tally_sample_rows_by_parts() alone */
};

/* 0, or below it to end. */
typedef int (*tally_sample_row_fn)(void *context, const struct sample_row *row);

/* Gives the samples that the options choose in the order of time; `columns` (TALLY_COLUMN_*) are
 * those beside the ones above.  0 or -errno with words. */
int tally_sample_rows_run(struct convert *convert, uint64_t columns, tally_sample_row_fn take,
			  void *context);

/* What was made of a part of the rows.  0 or -errno. */
typedef int (*tally_sample_part_fn)(void *context, const struct tally_buf *part);
/* Gives the samples to several threads at once, a part of them to each: `put` adds what it makes of
 * a row to its part, and `take` takes one part after another in the order of time.  `begin`, or
 * NULL, is called before with the number of workers. */
int tally_sample_rows_by_parts(struct convert *convert, uint64_t columns,
			       int (*begin)(void *context, unsigned workers),
			       tally_sample_row_fn put, tally_sample_part_fn take, void *context);

#endif
