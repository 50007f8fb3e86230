/* A Parquet file, written row by row.  Rows are kept until a group of them is full, so memory is
 * bounded; the file is written from its start to its end, and may be a pipe.
 *
 * All columns are required.  One list of structs is possible beside the plain columns: each row has
 * any number of its elements.  Pages are compressed with zstd, where libzstd was built in; values
 * have dictionaries, or are differences where these are smaller; each column of a group has its
 * least and greatest value.  Source: parquet-format (README.md, LogicalTypes.md, parquet.thrift).
 */
#ifndef TALLY_PARQUET_PARQUET_H
#define TALLY_PARQUET_PARQUET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum parquet_type {
	PARQUET_TEXT, /* UTF-8; a value is the number of tally_parquet_text() */
	PARQUET_I32,
	PARQUET_I64,
	PARQUET_U64,
	PARQUET_TIME, /* microseconds since 1970, UTC */
};

struct parquet_column {
	const char *name;
	enum parquet_type type;
};

/* What a file has; the arrays are the caller's and stay as long as the writer. */
struct parquet_table {
	const struct parquet_column *columns; /* plain ones */
	size_t column_count;
	const char *list;                    /* the name of the list; NULL: there is none */
	const struct parquet_column *fields; /* of its elements */
	size_t field_count;
	/* Without a list: columns that the rows of each group are sorted by (texts: by their
	 * numbers), so that equal values are beside each other. */
	const uint8_t *order;
	size_t order_count;
};

/* The file. */
struct parquet_writer;
/* Rows for a file, until there are enough of them for a group. */
struct parquet_rows;

/* The stream stays the caller's.  0 or -ENOMEM. */
int tally_parquet_new(FILE *out, const struct parquet_table *table, struct parquet_writer **ret);
void tally_parquet_free(struct parquet_writer *writer);
const struct parquet_table *tally_parquet_table(const struct parquet_writer *writer);

/* `threads`: so many write a group's columns.  0 or -ENOMEM. */
int tally_parquet_rows_new(struct parquet_writer *writer, unsigned threads,
			   struct parquet_rows **ret);
void tally_parquet_rows_free(struct parquet_rows *rows);
/* The number of a text, for these rows: equal texts have equal ones.  Bytes that are not UTF-8
 * become U+FFFD.  Below 0: -ENOMEM. */
int64_t tally_parquet_text(struct parquet_rows *rows, const char *text, size_t length);
/* The number of an element of the list, for these rows: a value for each field; equal elements have
 * equal ones.  Below 0: -ENOMEM. */
int64_t tally_parquet_element(struct parquet_rows *rows, const uint64_t *values);
/* The same of one that is known to differ from all others, and is not looked up. */
int64_t tally_parquet_another_element(struct parquet_rows *rows, const uint64_t *values);
/* A row: a value for each plain column, and the numbers of the `count` elements of its list.  0,
 * -ENOMEM, or -errno of writing. */
int tally_parquet_row(struct parquet_rows *rows, const uint64_t *values, const uint32_t *elements,
		      uint32_t count);
/* Writes the rows as a group; there may be none.  0, -ENOMEM, or -errno of writing. */
int tally_parquet_rows_write(struct parquet_rows *rows);
/* Writes the end of the file, behind all groups.  0, -ENOMEM, or -errno of writing. */
int tally_parquet_end(struct parquet_writer *writer);

#endif
