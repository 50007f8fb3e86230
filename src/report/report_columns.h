/* The columns of a report's table: their text, widths and lines. */
#ifndef TALLY_REPORT_REPORT_COLUMNS_H
#define TALLY_REPORT_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/map.h"
#include "base/table.h"
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
	const struct report_group *group; /* NULL: rows are of one event */
	uint64_t at;                      /* with it: the row that is written */
	uint64_t total;                   /* that is 100 % */
	/* By hash of a cell: the byte from which on it differs from another of the same short form;
	 * NULL: none is known. */
	const struct tally_map *clashes;
	struct report_column list[TALLY_REPORT_COLUMNS_MOST];
	size_t count;
} __attribute__((aligned(TABLE_APART)));

/* Those of the table's fields. */
void tally_report_columns_init(struct report_columns *columns, const struct report_table *table);
/* The same columns for another thread: widths, no cells. */
void tally_report_columns_copy(struct report_columns *columns, const struct report_columns *from);
void tally_report_columns_done(struct report_columns *columns);
/* With a group the row is found by columns->at.
 *
 * Makes the columns wide enough for the row's cells; 0 or -ENOMEM. */
int tally_report_columns_hold(struct report_columns *columns, const struct tally_profile_row *row);
/* To be called when they are wide enough for all rows: fits them to a narrow terminal. */
void tally_report_columns_fit(struct report_columns *columns);
/* Then: finds names of functions whose short forms are equal.  *ret, which is empty, must live as
 * long as the columns are used.  0 or -ENOMEM. */
int tally_report_columns_clashes(struct report_columns *columns, const struct report_table *table,
				 struct tally_map *ret);
void tally_report_columns_titles(const struct report_columns *columns, struct tally_buf *to);
/* Adds the row's line; 0 or -ENOMEM. */
int tally_report_columns_row(struct report_columns *columns, const struct tally_profile_row *row,
			     struct tally_buf *to);

#endif
