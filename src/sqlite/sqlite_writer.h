/* An SQLite database that is written once, without SQLite: tables whose rows come in order,
 * indexes, views.  It is built bottom up, several tables at a time, so every page is written once,
 * to the end of the file, and only page 1 last. */
#ifndef TALLY_SQLITE_WRITER_H
#define TALLY_SQLITE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include "sqlite/sqlite_index.h"

struct sqlite_writer;
struct sqlite_table;

#define SQLITE_COLUMNS 24U

/* Into an empty regular file.  The descriptor and the path, which is for messages, are borrowed
 * until the writer is freed.  0 or -ENOMEM. */
int tally_sqlite_new(int fd, const char *path, struct sqlite_writer **ret,
		     struct tally_error *error);
void tally_sqlite_free(struct sqlite_writer *writer); /* NULL is fine */

/* A table of such columns.  `definition`: "CREATE TABLE NAME(...)" in SQL, borrowed as the name is.
 * If it has rowids, the first column is its INTEGER PRIMARY KEY, and rows come by it in order; else
 * the primary key is the first columns, and rows come in the order of these. */
int tally_sqlite_add_table(struct sqlite_writer *writer, const char *name, const char *definition,
			   unsigned columns, bool rowids, struct sqlite_table **ret);
/* An index of a column, of numbers below 2^32 - 1 or of texts, of a table that has no rows yet. */
int tally_sqlite_add_index(struct sqlite_writer *writer, struct sqlite_table *table,
			   unsigned column, bool text, const char *name, const char *definition);
int tally_sqlite_add_view(struct sqlite_writer *writer, const char *name, const char *definition);

/* Columns count from 0; those that are not set are NULL.  Text and bytes are borrowed until the
 * row is added.  Numbers from 2^63 up are stored as SQLite's integers are, negative. */
void tally_sqlite_set(struct sqlite_table *table, unsigned column, uint64_t value);
void tally_sqlite_set_text(struct sqlite_table *table, unsigned column, const char *text,
			   size_t length);
void tally_sqlite_set_bytes(struct sqlite_table *table, unsigned column, const void *bytes,
			    size_t size);
/* 0 or -errno; the columns are NULL again. */
int tally_sqlite_add_row(struct sqlite_table *table);

/* Writes the indexes and the schema.  `ask` (NULL: nobody) is asked now and then.  0, -ECANCELED,
 * -ENOMEM, or -errno of writing. */
int tally_sqlite_end(struct sqlite_writer *writer, tally_sqlite_ask_fn ask, void *context);

#endif
