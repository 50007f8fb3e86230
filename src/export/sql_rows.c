/* Source: "The Virtual Table Mechanism Of SQLite"; an eponymous-only table, which nobody creates.
 */
#include "export/sql_rows.h"

#include <stdlib.h>
#include "base/buf.h"
#include "base/bytes.h"

struct rows_table {
	sqlite3_vtab base;
	const struct sql_rows *rows;
};

struct rows_cursor {
	sqlite3_vtab_cursor base;
	const uint8_t *block;
	uint32_t at;   /* the row's place; 0: there is none any more */
	uint32_t next; /* that of the next one */
	uint64_t set;  /* columns, a bit each, that have a cell */
	const struct sql_cell *cells[SQL_COLUMNS];
};

static int connect(sqlite3 *db, void *rows, int argc, const char *const *argv, sqlite3_vtab **ret,
		   char **error)
{
	struct tally_buf text = {0};
	struct rows_table *table;
	int sqlite;

	(void)argc;
	(void)argv;
	(void)error;
	tally_buf_text(&text, "CREATE TABLE rows(c0");
	for (unsigned i = 1; i < SQL_COLUMNS; i++)
		tally_buf_printf(&text, ",c%u", i);
	tally_buf_text(&text, ")");
	sqlite = text.failed ? SQLITE_NOMEM : sqlite3_declare_vtab(db, tally_buf_str(&text));
	tally_buf_done(&text);
	table = sqlite ? NULL : calloc(1, sizeof(*table));
	if (!table)
		return sqlite ? sqlite : SQLITE_NOMEM;
	table->rows = rows;
	*ret = &table->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *table)
{
	free(table);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	(void)table;
	info->estimatedCost = 1;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
	struct rows_cursor *cursor = calloc(1, sizeof(*cursor));

	(void)table;
	if (!cursor)
		return SQLITE_NOMEM;
	*ret = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

static size_t cell_size(const struct sql_cell *cell)
{
	return sizeof(*cell) + (cell->kind == SQL_CELL_NUMBER ? 0 : align_up(cell->value, 8));
}

static int next(sqlite3_vtab_cursor *base)
{
	struct rows_cursor *cursor = (struct rows_cursor *)base;
	const struct sql_row *row = (const struct sql_row *)(cursor->block + cursor->next);
	const uint8_t *at = (const uint8_t *)(row + 1), *end;

	cursor->at = cursor->next;
	if (!cursor->at)
		return SQLITE_OK;
	cursor->next = row->next;
	cursor->set = row->set;
	for (end = at + row->size; at < end;) {
		const struct sql_cell *cell = (const struct sql_cell *)at;

		cursor->cells[cell->column] = cell;
		at += cell_size(cell);
	}
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *name, int argc,
		  sqlite3_value **argv)
{
	struct rows_cursor *cursor = (struct rows_cursor *)base;
	const struct sql_rows *rows = ((struct rows_table *)base->pVtab)->rows;

	(void)number;
	(void)name;
	(void)argc;
	(void)argv;
	cursor->block = rows->block;
	cursor->next = rows->first;
	return next(base);
}

static int at_end(sqlite3_vtab_cursor *base)
{
	return !((struct rows_cursor *)base)->at;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *to, int number)
{
	const struct rows_cursor *cursor = (struct rows_cursor *)base;
	const struct sql_cell *cell;

	if (!(cursor->set & 1ULL << number))
		return SQLITE_OK; /* NULL, as long as nothing is said */
	cell = cursor->cells[number];
	if (cell->kind == SQL_CELL_TEXT)
		sqlite3_result_text64(to, (const char *)(cell + 1), cell->value, SQLITE_STATIC,
				      SQLITE_UTF8);
	else if (cell->kind == SQL_CELL_BYTES)
		sqlite3_result_blob64(to, cell + 1, cell->value, SQLITE_STATIC);
	else
		sqlite3_result_int64(to, (sqlite3_int64)cell->value);
	return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = ((struct rows_cursor *)base)->at;
	return SQLITE_OK;
}

void tally_sql_rows_append(struct tally_buf *block, uint32_t table, uint64_t set,
			   const struct tally_buf *cells)
{
	struct sql_row row = {.size = (uint32_t)cells->size, .set = set};
	struct sql_block *head;
	uint32_t at;

	if (!block->size)
		tally_buf_zero(block, sizeof(*head));
	at = (uint32_t)block->size;
	tally_buf_add(block, &row, sizeof(row));
	tally_buf_add(block, cells->data, cells->size);
	if (block->failed)
		return;
	head = (struct sql_block *)block->data;
	head->set[table] |= set;
	if (head->first[table])
		((struct sql_row *)(block->data + head->last[table]))->next = at;
	else
		head->first[table] = at;
	head->last[table] = at;
}

int tally_sql_rows_add(sqlite3 *db, struct sql_rows *rows)
{
	static const sqlite3_module module = {
	    .xConnect = connect,
	    .xDisconnect = disconnect,
	    .xBestIndex = best_index,
	    .xOpen = open_cursor,
	    .xClose = close_cursor,
	    .xFilter = filter,
	    .xNext = next,
	    .xEof = at_end,
	    .xColumn = column,
	    .xRowid = row_id,
	};

	return sqlite3_create_module(db, SQL_ROWS, &module, rows);
}
