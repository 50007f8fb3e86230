/* An SQLite file that is written once, from start to end. Only this file and sql_rows.c use SQLite.
 */
#ifndef TALLY_EXPORT_SQL_FILE_H
#define TALLY_EXPORT_SQL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>

struct tally_sql_file;
struct tally_sql_insert; /* how rows of a table are inserted */

/* Writes beside the path (base/whole_file.h).  -EEXIST, -ENODEV, -errno. */
int tally_sql_file_open(const char *path, bool replace, struct tally_sql_file **ret,
			struct tally_error *error);
/* Writes into an empty file that exists, which stays where it is, also after a failure.  -errno. */
int tally_sql_file_fill(const char *path, struct tally_sql_file **ret, struct tally_error *error);
/* Asks now and then within what tally_sql_file_run() does whether to end: not 0, and that fails
 * with -ECANCELED. */
void tally_sql_file_watch(struct tally_sql_file *file, int (*ask)(void *), void *context);
/* Gives it its final name, if it has another one, and closes it. The struct is freed, also after a
 * failure. */
int tally_sql_file_finish(struct tally_sql_file *file, struct tally_error *error);
/* Removes the file, and frees the struct; NULL is fine. */
void tally_sql_file_abandon(struct tally_sql_file *file);

int tally_sql_file_run(struct tally_sql_file *file, const char *statements,
		       struct tally_error *error);
/* For rows of a table, which exists; lives as long as the file, as the name must.  0 or -errno. */
int tally_sql_file_table(struct tally_sql_file *file, const char *table,
			 struct tally_sql_insert **ret);

/* Columns count from 0, up to 63; those that are not set are NULL.  Numbers from 2^63 up are stored
 * as SQLite's integers are, negative. */
void tally_sql_set(struct tally_sql_insert *insert, unsigned column, uint64_t value);
void tally_sql_set_text(struct tally_sql_insert *insert, unsigned column, const char *text,
			size_t length);
void tally_sql_set_bytes(struct tally_sql_insert *insert, unsigned column, const void *bytes,
			 size_t size);
/* Rows are inserted in the order in which they are added, by a thread of the file's own.  0, or
 * -errno, also of an earlier row; the columns are NULL again. */
int tally_sql_add(struct tally_sql_insert *insert, struct tally_error *error);

#endif
