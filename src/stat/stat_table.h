/* The parts of the counts' table for people. */
#ifndef TALLY_REPORT_STAT_TABLE_H
#define TALLY_REPORT_STAT_TABLE_H

#include "base/buf.h"
#include "stat/stat_lines.h"

enum stat_column_id {
	STAT_TIME,
	STAT_PART,
	STAT_PLACES,
	STAT_VALUE,
	STAT_UNIT,
	STAT_NAME,
	STAT_CGROUP,
	STAT_NUMBER,
	STAT_DERIVED,
	STAT_SPREAD,
	STAT_SHARE,
	STAT_COLUMNS,
};

struct stat_column {
	bool right;       /* aligned */
	uint8_t gap;      /* before it */
	uint8_t least;    /* its smallest width, unless it is empty */
	const char *mark; /* before cells with text */
};

struct stat_cell_text { /* in the pool */
	size_t at, length, columns;
};

struct stat_row {
	struct stat_cell_text cells[STAT_COLUMNS];
	enum tally_stat_grade grade;
	bool faint;
};

struct stat_table {
	const struct tally_stat *stat;
	const struct tally_stat_options *of;
	struct tally_stat_text_options options;
	struct tally_buf pool;
	struct stat_row *rows;
	size_t row_count, row_room;
	size_t widths[STAT_COLUMNS];
};

/* 1234567.5 as 1,234,567.5 when `grouped`. */
void tally_stat_put_number(struct tally_buf *to, double value, int decimals, bool grouped);

/* " Performance counter stats for 'make' (3 runs):" */
void tally_stat_put_title(const struct stat_table *table, struct tally_buf *to);
/* --metric-only: names in a line, values below.  0 or -ENOMEM. */
int tally_stat_put_metrics(const struct stat_table *table, struct tally_buf *to);
/* Writes the times, and a line about events that were not counted. */
void tally_stat_put_end(const struct stat_table *table, const struct stat_line *lines, size_t count,
			struct tally_buf *to);

#endif
