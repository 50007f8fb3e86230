/* Rows that wait in a block of memory, and how SQLite reads them: as a table, so that one statement
 * inserts all of a block that belong to a table of the database.  That takes half the time of a
 * statement for each row. */
#ifndef TALLY_EXPORT_SQL_ROWS_H
#define TALLY_EXPORT_SQL_ROWS_H

#include <sqlite3.h>
#include <stdint.h>
#include "base/buf.h"

#define SQL_COLUMNS 64U /* of a row, at most */

/* A value of a row; text and bytes follow it, up to a multiple of 8. */
struct sql_cell {
	uint32_t column;
	enum sql_cell_kind { SQL_CELL_NUMBER, SQL_CELL_TEXT, SQL_CELL_BYTES } kind;
	uint64_t value; /* of text and bytes their size */
};

/* In front of the cells of a row.  Columns without a cell are NULL. */
struct sql_row {
	uint32_t next; /* of the same table: where it begins in the block; 0: there is none */
	uint32_t size; /* of the cells, in bytes */
	uint64_t set;  /* columns that have one, a bit each */
};

#define SQL_TABLES 16U /* of a database, at most */

/* The start of a block; rows of all tables follow, in the order in which they were added. */
struct sql_block {
	uint64_t set[SQL_TABLES]; /* by table: columns that any row has, a bit each */
	uint32_t first[SQL_TABLES], last[SQL_TABLES]; /* where these begin; 0: it has no row */
};

/* Appends a row to a block, which may be empty.  A failure is the block's. */
void tally_sql_rows_append(struct tally_buf *block, uint32_t table, uint64_t set,
			   const struct tally_buf *cells);

/* What the table shows: the rows of one of the database's tables in a block. */
struct sql_rows {
	const uint8_t *block;
	uint32_t first;
};

/* Its name in statements, and that of column n is "c<n>". */
#define SQL_ROWS "waiting_rows"

/* `rows` is read whenever the table is, and borrowed as long as the database is open.  SQLITE_*. */
int tally_sql_rows_add(sqlite3 *db, struct sql_rows *rows);

#endif
