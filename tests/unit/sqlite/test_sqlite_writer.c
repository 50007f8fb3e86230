/* Databases that are written without SQLite, as SQLite reads them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sqlite/sqlite_writer.h"

#define TEXTS 12000U /* the longest, a byte less: longer than a page */
#define ROWS  200000U

struct database {
	char path[64];
	int fd;
	struct sqlite_writer *writer;
};

static void begin(struct database *database)
{
	strcpy(database->path, "/tmp/tally-sqlite-XXXXXX");
	database->fd = mkstemp(database->path);
	assert_true(database->fd >= 0);
	assert_int_equal(tally_sqlite_new(database->fd, database->path, &database->writer, NULL),
			 0);
}

static void finish(struct database *database)
{
	assert_int_equal(tally_sqlite_end(database->writer, NULL, NULL), 0);
	tally_sqlite_free(database->writer);
	close(database->fd);
}

/* What SQLite answers is the text. */
static void assert_answer(const struct database *database, const char *query, const char *wanted)
{
	char command[512], answer[512] = "";
	FILE *from;

	snprintf(command, sizeof(command), "sqlite3 %s \"%s\"", database->path, query);
	from = popen(command, "r");
	assert_non_null(from);
	answer[fread(answer, 1, sizeof(answer) - 1, from)] = '\0';
	answer[strcspn(answer, "\n")] = '\0';
	assert_int_equal(pclose(from), 0);
	assert_string_equal(answer, wanted);
}

static void need_sqlite(void)
{
	if (system("command -v sqlite3 >/dev/null 2>&1"))
		skip(); /* nobody else reads what is written */
}

static void numbers_of_all_widths_are_the_same(void **state)
{
	struct database database;
	struct sqlite_table *table;
	uint64_t id = 0;

	(void)state;
	need_sqlite();
	begin(&database);
	assert_int_equal(tally_sqlite_add_table(database.writer, "n",
						"CREATE TABLE n(id INTEGER PRIMARY KEY, shift "
						"INTEGER, more INTEGER, value INTEGER)",
						4, true, &table),
			 0);
	for (unsigned shift = 0; shift < 64; shift++)
		for (unsigned more = 0; more < 3; more++) {
			tally_sqlite_set(table, 0, ++id);
			tally_sqlite_set(table, 1, shift);
			tally_sqlite_set(table, 2, more);
			tally_sqlite_set(table, 3, ((uint64_t)1 << shift) - 1 + more);
			assert_int_equal(tally_sqlite_add_row(table), 0);
			tally_sqlite_set(table, 0, ++id);
			tally_sqlite_set(table, 1, shift);
			tally_sqlite_set(table, 2, more);
			tally_sqlite_set(table, 3, ~(((uint64_t)1 << shift) - 1 + more));
			assert_int_equal(tally_sqlite_add_row(table), 0);
		}
	finish(&database);
	assert_answer(&database, "PRAGMA integrity_check", "ok");
	assert_answer(
	    &database,
	    "SELECT count(*), sum(value = CASE id % 2 WHEN 1 THEN (1 << shift) - 1 + more "
	    "ELSE ~((1 << shift) - 1 + more) END) FROM n WHERE shift < 63",
	    "378|378");
	assert_answer(&database, "SELECT value FROM n WHERE id = 63 * 6 + 3",
		      "-9223372036854775808");
	unlink(database.path);
}

static void texts_of_all_lengths_are_found(void **state)
{
	struct database database;
	struct sqlite_table *table;
	char *text = malloc(TEXTS + 1);

	(void)state;
	need_sqlite();
	assert_non_null(text);
	memset(text, 'x', TEXTS);
	begin(&database);
	assert_int_equal(
	    tally_sqlite_add_table(database.writer, "t",
				   "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, data BLOB)",
				   3, true, &table),
	    0);
	assert_int_equal(tally_sqlite_add_index(database.writer, table, 1, true, "t_name",
						"CREATE INDEX t_name ON t(name)"),
			 0);
	/* Their order as texts is not that of their ids; every 7th is NULL. */
	for (uint32_t i = 0; i < TEXTS; i += i < 2200 ? 1 : 61) {
		tally_sqlite_set(table, 0, i + 1);
		snprintf(text, 9, "%08u", i * 7919 % 100003);
		text[8] = 'x';
		if (i % 7)
			tally_sqlite_set_text(table, 1, text, i);
		tally_sqlite_set_bytes(table, 2, text, i);
		assert_int_equal(tally_sqlite_add_row(table), 0);
	}
	finish(&database);
	free(text);
	assert_answer(&database, "PRAGMA integrity_check", "ok");
	assert_answer(&database,
		      "SELECT count(*), sum(length(data) = id - 1), sum(name IS NULL), "
		      "sum(name = CAST(data AS TEXT)) FROM t",
		      "2361|2361|338|2023");
	assert_answer(
	    &database,
	    "SELECT count(*) FROM t AS a JOIN t AS b INDEXED BY t_name ON b.name = a.name "
	    "AND b.id = a.id",
	    "2023");
	unlink(database.path);
}

static void large_tables_and_their_indexes_are_whole(void **state)
{
	struct database database;
	struct sqlite_table *rows, *keys;
	uint64_t id = 0;

	(void)state;
	need_sqlite();
	begin(&database);
	assert_int_equal(
	    tally_sqlite_add_table(database.writer, "r",
				   "CREATE TABLE r(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, "
				   "filler TEXT)",
				   4, true, &rows),
	    0);
	assert_int_equal(tally_sqlite_add_table(
			     database.writer, "k",
			     "CREATE TABLE k(one INTEGER, two INTEGER, PRIMARY KEY(one, two)) "
			     "WITHOUT ROWID",
			     2, false, &keys),
			 0);
	assert_int_equal(tally_sqlite_add_index(database.writer, rows, 1, false, "r_a",
						"CREATE INDEX r_a ON r(a)"),
			 0);
	assert_int_equal(tally_sqlite_add_index(database.writer, rows, 2, false, "r_b",
						"CREATE INDEX r_b ON r(b)"),
			 0);
	assert_int_equal(tally_sqlite_add_view(database.writer, "both",
					       "CREATE VIEW both AS SELECT a, b FROM r"),
			 0);
	for (uint32_t i = 0; i < ROWS; i++) {
		id += i % 1000 ? 1 : 5; /* ids have gaps */
		tally_sqlite_set(rows, 0, id);
		if (i % 3)
			tally_sqlite_set(rows, 1, i * 7919ULL % 100003);
		tally_sqlite_set(rows, 2, i % 5);
		tally_sqlite_set_text(
		    rows, 3, "a hundred rows are on a page, so there are three levels", 55);
		assert_int_equal(tally_sqlite_add_row(rows), 0);
		tally_sqlite_set(keys, 0, i / 10);
		tally_sqlite_set(keys, 1, i % 10);
		assert_int_equal(tally_sqlite_add_row(keys), 0);
	}
	finish(&database);
	/* It looks at every key and its order, and that rows and indexes agree. */
	assert_answer(&database, "PRAGMA integrity_check", "ok");
	assert_answer(&database, "SELECT count(*), sum(a IS NULL), sum(b) FROM both",
		      "200000|66667|400000");
	assert_answer(&database, "SELECT count(*) FROM r INDEXED BY r_a WHERE a IS NULL", "66667");
	assert_answer(&database, "SELECT count(*) FROM r INDEXED BY r_b WHERE b = 4", "40000");
	assert_answer(&database, "SELECT count(*), sum(two) FROM k WHERE one = 19999", "10|45");
	assert_answer(&database,
		      "INSERT INTO r(a) VALUES(1); DELETE FROM k WHERE one < 15000; PRAGMA "
		      "integrity_check",
		      "ok");
	unlink(database.path);
}

static void empty_tables_are_tables(void **state)
{
	struct database database;
	struct sqlite_table *table;

	(void)state;
	need_sqlite();
	begin(&database);
	assert_int_equal(tally_sqlite_add_table(database.writer, "e",
						"CREATE TABLE e(id INTEGER PRIMARY KEY, a INTEGER)",
						2, true, &table),
			 0);
	assert_int_equal(tally_sqlite_add_index(database.writer, table, 1, false, "e_a",
						"CREATE INDEX e_a ON e(a)"),
			 0);
	finish(&database);
	assert_answer(&database, "PRAGMA integrity_check", "ok");
	assert_answer(&database, "SELECT count(*) FROM e", "0");
	unlink(database.path);
}

static int always(void *context)
{
	(void)context;
	return 1;
}

static void what_cannot_be_written_is_refused(void **state)
{
	struct database database;
	struct sqlite_table *table;

	(void)state;
	begin(&database);
	assert_int_equal(tally_sqlite_add_table(database.writer, "t",
						"CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER)",
						2, true, &table),
			 0);
	assert_int_equal(tally_sqlite_add_index(database.writer, table, 1, false, "t_a",
						"CREATE INDEX t_a ON t(a)"),
			 0);
	tally_sqlite_set(table, 0, 5);
	assert_int_equal(tally_sqlite_add_row(table), 0);
	tally_sqlite_set(table, 0, 5);
	assert_int_equal(tally_sqlite_add_row(table), -EINVAL);
	tally_sqlite_set(table, 0, 6);
	tally_sqlite_set(table, 1, UINT32_MAX);
	assert_int_equal(tally_sqlite_add_row(table), -EFBIG);
	for (uint32_t i = 7; i < 100000; i++) {
		tally_sqlite_set(table, 0, i);
		tally_sqlite_set(table, 1, i);
		assert_int_equal(tally_sqlite_add_row(table), 0);
	}
	assert_int_equal(tally_sqlite_end(database.writer, always, NULL), -ECANCELED);
	tally_sqlite_free(database.writer);
	close(database.fd);
	unlink(database.path);
}

static void a_full_disk_is_reported(void **state)
{
	int fd = open("/dev/full", O_RDWR | O_CLOEXEC);
	struct tally_error error = {0};
	struct sqlite_writer *writer;
	struct sqlite_table *table;

	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(tally_sqlite_new(fd, "full", &writer, &error), 0);
	assert_int_equal(tally_sqlite_add_table(writer, "t",
						"CREATE TABLE t(id INTEGER PRIMARY KEY)", 1, true,
						&table),
			 0);
	assert_int_equal(tally_sqlite_end(writer, NULL, NULL), -ENOSPC);
	assert_non_null(strstr(error.text, "full: cannot be written"));
	tally_sqlite_free(writer);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers_of_all_widths_are_the_same),
	    cmocka_unit_test(texts_of_all_lengths_are_found),
	    cmocka_unit_test(large_tables_and_their_indexes_are_whole),
	    cmocka_unit_test(empty_tables_are_tables),
	    cmocka_unit_test(what_cannot_be_written_is_refused),
	    cmocka_unit_test(a_full_disk_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
