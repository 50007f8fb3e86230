#include "export/sql_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/fail.h"

#define INSERTS 16U
#define STEPS   100000 /* of SQLite's machine between two looks at whether to end */

struct tally_sql_insert {
	struct tally_sql_file *file;
	sqlite3_stmt *statement;
	int failed; /* of setting a column: SQLITE_* */
};

struct tally_sql_file {
	sqlite3 *db;
	char *path, *made; /* `path` is NULL: it was there, and stays */
	bool replace, created;
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
	if (file->created)
		unlink(file->made);
	free(file->path);
	free(file->made);
	free(file);
}

static int create(struct tally_sql_file *file, struct tally_error *error)
{
	int fd;

	if (!file->replace && !access(file->path, F_OK))
		return tally_fail(error, -EEXIST, -1,
				  "%s exists; --force replaces it, or name another file",
				  file->path);
	fd = open(file->made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 && errno == EEXIST)
		return tally_fail(
		    error, -EEXIST, -1,
		    "%s exists: another command is writing it, or was killed; remove it",
		    file->made);
	if (fd < 0)
		return tally_fail(error, -errno, -1, "%s: cannot be created: %s", file->made,
				  strerror(errno));
	close(fd);
	file->created = true;
	return 0;
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
	file->replace = replace;
	file->path = strdup(path);
	if (asprintf(&file->made, "%s.tmp", path) < 0)
		file->made = NULL;
	result = file->path && file->made ? create(file, error) : -ENOMEM;
	if (!result)
		result = open_database(file, error);
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

/* A file that came to be in the meantime is not overwritten unasked. */
static int give_name(const struct tally_sql_file *file, struct tally_error *error)
{
	int result = renameat2(AT_FDCWD, file->made, AT_FDCWD, file->path,
			       file->replace ? 0 : RENAME_NOREPLACE);

	if (result && errno == EINVAL && !file->replace) /* the file system cannot */
		result = access(file->path, F_OK) ? rename(file->made, file->path)
						  : (errno = EEXIST, -1);
	return result ? tally_fail(error, -errno, -1, "%s: cannot become %s: %s", file->made,
				   file->path, strerror(errno))
		      : 0;
}

int tally_sql_file_finish(struct tally_sql_file *file, struct tally_error *error)
{
	int result = tally_sql_file_run(file, "COMMIT", error);

	close_file(file);
	if (!result && file->path)
		result = give_name(file, error);
	if (!result)
		file->created = false;
	tally_sql_file_abandon(file);
	return result;
}
