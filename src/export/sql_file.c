#include "export/sql_file.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/fail.h"
#include "base/whole_file.h"

#define INSERTS 16U
#define STEPS   100000 /* of SQLite's machine between two looks at whether to end */

struct tally_sql_insert {
	struct tally_sql_file *file;
	sqlite3_stmt *statement;
	int failed; /* of setting a column: SQLITE_* */
};

struct tally_sql_file {
	sqlite3 *db;
	struct whole_file file; /* its path is NULL: the file was there, and stays */
	char *made;             /* what is written to; borrowed from `file`, or owned */
	struct tally_sql_insert inserts[INSERTS];
	unsigned insert_count;
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
	for (unsigned i = 0; i < file->insert_count; i++)
		sqlite3_finalize(file->inserts[i].statement);
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
	sqlite3_progress_handler(file->db, STEPS, ask, context);
}

int tally_sql_file_run(struct tally_sql_file *file, const char *statements,
		       struct tally_error *error)
{
	int sqlite = sqlite3_exec(file->db, statements, NULL, NULL, NULL);

	return sqlite ? fail(file, sqlite, error) : 0;
}

int tally_sql_file_prepare(struct tally_sql_file *file, const char *table, unsigned columns,
			   struct tally_sql_insert **ret, struct tally_error *error)
{
	struct tally_sql_insert *insert = &file->inserts[file->insert_count];
	struct tally_buf text = {0};
	int sqlite;

	if (file->insert_count == INSERTS)
		return -ENOSPC;
	tally_buf_printf(&text, "INSERT INTO %s VALUES(?", table);
	for (unsigned i = 1; i < columns; i++)
		tally_buf_text(&text, ",?");
	tally_buf_text(&text, ")");
	if (text.failed)
		return text.failed;
	sqlite = sqlite3_prepare_v2(file->db, tally_buf_str(&text), -1, &insert->statement, NULL);
	tally_buf_done(&text);
	if (sqlite)
		return fail(file, sqlite, error);
	insert->file = file;
	file->insert_count++;
	*ret = insert;
	return 0;
}

void tally_sql_set(struct tally_sql_insert *insert, unsigned column, uint64_t value)
{
	insert->failed |=
	    sqlite3_bind_int64(insert->statement, (int)column + 1, (sqlite3_int64)value);
}

void tally_sql_set_text(struct tally_sql_insert *insert, unsigned column, const char *text,
			size_t length)
{
	insert->failed |= sqlite3_bind_text64(insert->statement, (int)column + 1, text, length,
					      SQLITE_STATIC, SQLITE_UTF8);
}

void tally_sql_set_bytes(struct tally_sql_insert *insert, unsigned column, const void *bytes,
			 size_t size)
{
	insert->failed |=
	    sqlite3_bind_blob64(insert->statement, (int)column + 1, bytes, size, SQLITE_STATIC);
}

int tally_sql_add(struct tally_sql_insert *insert, struct tally_error *error)
{
	int sqlite = insert->failed ? insert->failed : sqlite3_step(insert->statement);
	int result = sqlite == SQLITE_DONE ? 0 : fail(insert->file, sqlite, error);

	sqlite3_reset(insert->statement);
	sqlite3_clear_bindings(insert->statement);
	return result;
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
