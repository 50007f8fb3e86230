/* The rows of a report's table, by several threads: each makes the lines of some rows, which are
 * written in order. */
#ifndef TALLY_REPORT_REPORT_ROWS_H
#define TALLY_REPORT_REPORT_ROWS_H

#include "report/report_columns.h"

struct report_rows {
	const struct report_table *table;
	uint64_t first, end; /* of the rows shown */
};

/* Makes the columns wide enough for all cells of these rows.  0 or -ENOMEM. */
int tally_report_rows_hold(const struct report_rows *rows, struct report_columns *columns);
/* Writes the contents of `text`, and then the lines of these rows.  0, -ENOMEM, or -errno of
 * writing. */
int tally_report_rows_write(const struct report_rows *rows, struct report_columns *columns,
			    struct tally_buf *text, FILE *to);
/* Writes the contents of `text` and empties it. */
int tally_report_write_out(struct tally_buf *text, FILE *to);

#endif
