/* Rows that wait in a block of memory, and how SQLite reads them: as a table, so that one statement
 * inserts all of a block that belong to a table of the database.  That takes half the time of a
 * statement for each row. */
#ifndef TALLY_EXPORT_SQL_ROWS_H
#define TALLY_EXPORT_SQL_ROWS_H

#include <sqlite3.h>
#include <stdint.h>

#define SQL_COLUMNS 64U /* of a row, at most */

/* A value of a row; text and bytes follow it, up to a multiple of 8. */
struct sql_cell {
	uint32_t column;
	enum sql_cell_kind { SQL_CELL_NUMBER, SQL_CELL_TEXT, SQL_CELL_BYTES } kind;
	uint64_t value; /* of text and bytes their size */
};

/* In front of the cells of a row.  Columns without a cell are NULL. */
struct sql_row {
	uint32_t table, size; /* size: of the cells, in bytes */
	uint64_t set;         /* columns that have one, a bit each */
};

/* What the table shows: rows of one of the database's tables. */
struct sql_rows {
	const uint8_t *at, *end;
	uint32_t table;
};

/* Its name in statements, and that of column n is "c<n>". */
#define SQL_ROWS "waiting_rows"

/* `rows` is read whenever the table is, and borrowed as long as the database is open.  SQLITE_*. */
int tally_sql_rows_add(sqlite3 *db, struct sql_rows *rows);

#endif
