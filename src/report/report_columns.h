/* The columns of a report's table: their text, widths and lines. */
#ifndef TALLY_REPORT_REPORT_COLUMNS_H
#define TALLY_REPORT_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "report/report_table.h"

struct report_column {
	struct report_field field;
	size_t width;
	bool right; /* aligned to its right end */
	/* The last cell and the values that it was made from: adjacent rows often have equal
	 * ones. */
	struct report_field_source source;
	struct tally_buf text;
	size_t columns; /* width of the text */
	bool made;
};

/* Each thread has one of its own, as the columns remember their last cells. */
struct report_columns {
	const struct tally_report_options *options;
	uint64_t total; /* that is 100 % */
	struct report_column list[TALLY_REPORT_COLUMNS_MOST];
	size_t count;
};

/* Those of the table's fields. */
void tally_report_columns_init(struct report_columns *columns, const struct report_table *table);
/* The same columns for another thread: widths, no cells. */
void tally_report_columns_copy(struct report_columns *columns, const struct report_columns *from);
void tally_report_columns_done(struct report_columns *columns);
/* Makes the columns wide enough for the row's cells; 0 or -ENOMEM. */
int tally_report_columns_hold(struct report_columns *columns, const struct tally_profile_row *row);
/* To be called when they are wide enough for all rows: fits them to a narrow terminal. */
void tally_report_columns_fit(struct report_columns *columns);
void tally_report_columns_titles(const struct report_columns *columns, struct tally_buf *to);
/* Adds the row's line; 0 or -ENOMEM. */
int tally_report_columns_row(struct report_columns *columns, const struct tally_profile_row *row,
			     struct tally_buf *to);

#endif
