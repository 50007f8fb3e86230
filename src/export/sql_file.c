#include "export/sql_file.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/whole_file.h"
#include "export/row_queue.h"
#include "export/sql_rows.h"

#define STEPS  100000 /* of SQLite's machine between two looks at whether to end */
#define NUMBER 1ULL   /* the column of a row's number, which is the first one */

struct tally_sql_insert {
	struct tally_sql_file *file;
	const char *table;
	struct tally_buf row; /* cells */
	uint64_t set;         /* the columns that have one, a bit each */
	sqlite3_stmt *statement;
	uint64_t columns; /* that the statement inserts */
};

struct tally_sql_file {
	sqlite3 *db;
	struct whole_file file; /* its path is NULL: the file was there, and stays */
	char *made;             /* what is written to; borrowed from `file`, or owned */
	struct tally_sql_insert inserts[SQL_TABLES];
	unsigned insert_count;
	/* Rows are inserted by a thread of their own; nobody else uses the database meanwhile. */
	struct row_queue *queue;
	struct sql_rows rows;       /* those that it inserts */
	struct tally_error failure; /* of inserting */
	int (*ask)(void *context);
	void *context;
};

static int code_of(int sqlite)
{
	switch (sqlite & 0xff) {
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_INTERRUPT:
		return -ECANCELED;
	case SQLITE_TOOBIG:
		return -EFBIG;
	default:
		return -EIO;
	}
}

static int fail(const struct tally_sql_file *file, int sqlite, struct tally_error *error)
{
	return tally_fail(error, code_of(sqlite), -1, "%s: %s", file->made,
			  file->db ? sqlite3_errmsg(file->db) : sqlite3_errstr(sqlite));
}

static void close_file(struct tally_sql_file *file)
{
	tally_row_queue_free(file->queue);
	file->queue = NULL;
	for (unsigned i = 0; i < file->insert_count; i++) {
		tally_buf_done(&file->inserts[i].row);
		sqlite3_finalize(file->inserts[i].statement);
	}
	file->insert_count = 0;
	sqlite3_close(file->db);
	file->db = NULL;
}

void tally_sql_file_abandon(struct tally_sql_file *file)
{
	if (!file)
		return;
	close_file(file);
	if (!file->file.path)
		free(file->made);
	tally_whole_file_drop(&file->file);
	free(file);
}

static int open_database(struct tally_sql_file *file, struct tally_error *error)
{
	int sqlite = sqlite3_open_v2(file->made, &file->db,
				     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

	if (!sqlite)
		sqlite = tally_sql_rows_add(file->db, &file->rows);
	if (sqlite)
		return fail(file, sqlite, error);
	/* Nobody reads it before it is complete, and it is removed if that fails.  Rows are added
	 * behind those of their tables, so few pages are used at a time. */
	return tally_sql_file_run(file,
				  "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF;"
				  "PRAGMA synchronous = OFF; PRAGMA cache_size = -8192;"
				  "PRAGMA locking_mode = EXCLUSIVE; BEGIN",
				  error);
}

int tally_sql_file_open(const char *path, bool replace, struct tally_sql_file **ret,
			struct tally_error *error)
{
	struct tally_sql_file *file = calloc(1, sizeof(*file));
	int result;

	if (!file)
		return -ENOMEM;
	file->file.fd = -1;
	result =
	    tally_whole_file_open(path, replace ? WHOLE_FILE_REPLACE : 0, 0666, &file->file, error);
	if (!result) {
		file->made = file->file.incomplete;
		result = open_database(file, error);
	}
	if (result)
		tally_sql_file_abandon(file);
	else
		*ret = file;
	return result;
}

int tally_sql_file_fill(const char *path, struct tally_sql_file **ret, struct tally_error *error)
{
	struct tally_sql_file *file = calloc(1, sizeof(*file));
	int result;

	if (!file)
		return -ENOMEM;
	file->file.fd = -1;
	file->made = strdup(path);
	result = file->made ? open_database(file, error) : -ENOMEM;
	if (result)
		tally_sql_file_abandon(file);
	else
		*ret = file;
	return result;
}

void tally_sql_file_watch(struct tally_sql_file *file, int (*ask)(void *), void *context)
{
	file->ask = ask;
	file->context = context;
}

/* --- rows --- */

/* A statement that inserts these columns; one that it does not name costs nothing, and numbers of
 * rows that SQLite makes are not searched for.  SQLITE_*. */
static int prepare(struct tally_sql_insert *insert, uint64_t columns)
{
	struct tally_buf names = {0}, values = {0};
	sqlite3 *db = insert->file->db;
	sqlite3_stmt *all = NULL;
	int sqlite = SQLITE_NOMEM;

	tally_buf_printf(&names, "SELECT * FROM %s", insert->table);
	if (!names.failed)
		sqlite = sqlite3_prepare_v2(db, tally_buf_str(&names), -1, &all, NULL);
	tally_buf_clear(&names);
	/* A failure ends the file, so nothing is kept to take rows back. */
	tally_buf_printf(&names, "INSERT OR FAIL INTO %s", insert->table);
	for (uint64_t left = sqlite ? 0 : columns; left; left &= left - 1) {
		int column = __builtin_ctzll(left);

		tally_buf_printf(&names, "%c\"%s\"", left == columns ? '(' : ',',
				 sqlite3_column_name(all, column));
		tally_buf_printf(&values, "%sc%d", left == columns ? "" : ",", column);
	}
	sqlite3_finalize(all);
	tally_buf_printf(&names, ")SELECT %s FROM " SQL_ROWS, tally_buf_str(&values));
	sqlite3_finalize(insert->statement);
	insert->statement = NULL;
	insert->columns = columns;
	if (!sqlite)
		sqlite =
		    names.failed || values.failed
			? SQLITE_NOMEM
			: sqlite3_prepare_v3(db, tally_buf_str(&names), -1,
					     SQLITE_PREPARE_PERSISTENT, &insert->statement, NULL);
	tally_buf_done(&names);
	tally_buf_done(&values);
	return sqlite;
}

/* Inserts the rows of one table.  Where SQLite numbers all of them it does not search for their
 * numbers, but a statement that names the column does.  SQLITE_*. */
static int insert_into(struct tally_sql_insert *insert, uint64_t columns)
{
	int sqlite = 0;

	if (columns & ~insert->columns || (columns ^ insert->columns) & NUMBER)
		sqlite = prepare(insert, columns | (insert->columns & ~NUMBER));
	if (sqlite)
		return sqlite;
	sqlite = sqlite3_step(insert->statement);
	sqlite3_reset(insert->statement);
	return sqlite == SQLITE_DONE ? 0 : sqlite;
}

/* Inserts what a block has, table by table.  0 or -errno. */
static int insert_rows(void *context, const uint8_t *block, size_t size)
{
	const struct sql_block *head = (const struct sql_block *)block;
	struct tally_sql_file *file = context;

	for (uint32_t table = 0; size && table < file->insert_count; table++) {
		int sqlite;

		if (!head->first[table])
			continue;
		file->rows = (struct sql_rows){block, head->first[table]};
		sqlite = insert_into(&file->inserts[table], head->set[table]);
		if (sqlite)
			return fail(file, sqlite, &file->failure);
	}
	return 0;
}

/* A failure of the thread that inserts is reported where it is met. */
static int pass_on(const struct tally_sql_file *file, int result, struct tally_error *error)
{
	if (result && file->failure.code && error)
		*error = file->failure;
	return result;
}

int tally_sql_file_run(struct tally_sql_file *file, const char *statements,
		       struct tally_error *error)
{
	int sqlite, result = file->queue ? tally_row_queue_drain(file->queue) : 0;

	if (result)
		return pass_on(file, result, error);
	sqlite3_progress_handler(file->db, STEPS, file->ask, file->context);
	sqlite = sqlite3_exec(file->db, statements, NULL, NULL, NULL);
	sqlite3_progress_handler(file->db, 0, NULL, NULL);
	return sqlite ? fail(file, sqlite, error) : 0;
}

int tally_sql_file_table(struct tally_sql_file *file, const char *table,
			 struct tally_sql_insert **ret)
{
	struct tally_sql_insert *insert = &file->inserts[file->insert_count];

	if (file->insert_count == SQL_TABLES)
		return -ENOSPC;
	insert->table = table;
	insert->file = file;
	file->insert_count++;
	*ret = insert;
	return 0;
}

static void set_cell(struct tally_sql_insert *insert, unsigned column, enum sql_cell_kind kind,
		     uint64_t value)
{
	const struct sql_cell cell = {.column = column, .kind = kind, .value = value};

	tally_buf_add(&insert->row, &cell, sizeof(cell));
	insert->set |= 1ULL << column;
}

void tally_sql_set(struct tally_sql_insert *insert, unsigned column, uint64_t value)
{
	set_cell(insert, column, SQL_CELL_NUMBER, value);
}

void tally_sql_set_text(struct tally_sql_insert *insert, unsigned column, const char *text,
			size_t length)
{
	set_cell(insert, column, SQL_CELL_TEXT, length);
	tally_buf_add(&insert->row, text, length);
	tally_buf_zero(&insert->row, align_up(length, 8) - length);
}

void tally_sql_set_bytes(struct tally_sql_insert *insert, unsigned column, const void *bytes,
			 size_t size)
{
	set_cell(insert, column, SQL_CELL_BYTES, size);
	tally_buf_add(&insert->row, bytes, size);
	tally_buf_zero(&insert->row, align_up(size, 8) - size);
}

int tally_sql_add(struct tally_sql_insert *insert, struct tally_error *error)
{
	struct tally_sql_file *file = insert->file;
	int result = insert->row.failed;

	if (!result && !file->queue)
		result = tally_row_queue_new(insert_rows, file, &file->queue);
	if (!result) {
		tally_sql_rows_append(tally_row_queue_block(file->queue),
				      (uint32_t)(insert - file->inserts), insert->set,
				      &insert->row);
		result = tally_row_queue_added(file->queue);
	}
	tally_buf_clear(&insert->row);
	insert->set = 0;
	return pass_on(file, result, error);
}

int tally_sql_file_finish(struct tally_sql_file *file, struct tally_error *error)
{
	int result = tally_sql_file_run(file, "COMMIT", error);

	close_file(file);
	if (!result && file->file.path)
		result = tally_whole_file_name(&file->file, error);
	tally_sql_file_abandon(file);
	return result;
}
