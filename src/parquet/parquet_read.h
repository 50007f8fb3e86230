/* A Parquet file that is read by columns: what this folder writes, and what engines write by
 * default: pages of both versions, plain values, dictionaries, runs and differences; not
 * compressed, Snappy or zstd.  All of a file is untrusted: what is wrong is an error, and what it
 * may take is bounded.  Source: parquet-format (README.md, Encodings.md, parquet.thrift). */
#ifndef TALLY_PARQUET_PARQUET_READ_H
#define TALLY_PARQUET_PARQUET_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"

/* Most rows of a group, values of a column in it (lists have several a row), and bytes of a page:
 * a few bytes may claim millions of equal values. */
#define PARQUET_ROWS_MOST   (1U << 22)
#define PARQUET_VALUES_MOST (1U << 25)
#define PARQUET_PAGE_MOST   ((size_t)1 << 28)

/* How values are stored: parquet.thrift, Type. */
enum parquet_stored {
	PARQUET_STORED_BOOL,
	PARQUET_STORED_I32,
	PARQUET_STORED_I64,
	PARQUET_STORED_I96,
	PARQUET_STORED_FLOAT,
	PARQUET_STORED_DOUBLE,
	PARQUET_STORED_BYTES,
	PARQUET_STORED_FIXED,
};

/* A column; a list or a struct has one for each of its fields. */
struct parquet_leaf {
	char *root, *name; /* of the column in the table, and of the field itself */
	enum parquet_stored stored;
	uint8_t definition_most, repetition_most;
	int unit; /* of a time since 1970: 3 ms, 6 us, 9 ns; 0: it is none, or unknown */
};

struct parquet_group_read {
	uint64_t rows;
	struct parquet_place {
		uint64_t at, size, values;
		int codec;
	} * places; /* by leaf */
};

struct parquet_reader {
	const uint8_t *bytes;
	size_t size;
	struct tally_arena arena; /* of the names and places */
	struct parquet_leaf *leaves;
	uint32_t leaf_count;
	struct parquet_group_read *groups;
	uint32_t group_count;
	uint64_t values; /* of all columns of all groups, as it claims */
};

struct parquet_text {
	const uint8_t *bytes;
	uint32_t size;
};

/* The values of a column in a group, all zero is empty.  Each place has a value (0 where it is
 * null), and its levels where the column has some. */
struct parquet_values {
	uint64_t *values; /* of texts: index in `texts` */
	uint8_t *definition, *repetition;
	uint32_t count;
	struct parquet_text *texts;
	uint32_t text_count, text_room;
	uint8_t **pages; /* that texts are in */
	uint32_t page_count, page_room;
};

/* Reads the end of a file in memory, which is borrowed.  0, -ENOMEM, -EBADMSG or -ENOTSUP with a
 * reason in *ret_why; to be released in any case. */
int tally_parquet_open(struct parquet_reader *reader, const uint8_t *bytes, size_t size,
		       const char **ret_why);
void tally_parquet_close(struct parquet_reader *reader);
/* A column, or a field of a list's elements; below 0: there is none. */
int tally_parquet_find(const struct parquet_reader *reader, const char *root, const char *name);
/* Reads a column of a group; numbers get 64 bits, those with a fraction lose it.  By any thread.
 * As tally_parquet_open(). */
int tally_parquet_column(const struct parquet_reader *reader, uint32_t group, int leaf,
			 struct parquet_values *ret, const char **ret_why);
void tally_parquet_values_done(struct parquet_values *values);

/* --- the parts, for tests --- */

/* Runs and groups of packed numbers of some bits; false: damaged, or less than `count`. */
bool tally_parquet_read_runs(const uint8_t *bytes, size_t size, unsigned bits, uint32_t count,
			     uint32_t *ret);
/* Differences; as many as `count`, and the bytes that they took. */
bool tally_parquet_read_deltas(const uint8_t *bytes, size_t size, bool narrow, uint32_t count,
			       uint64_t *ret, size_t *ret_size);
/* Snappy's raw format; false: damaged, or not of that size. */
bool tally_parquet_read_snappy(const uint8_t *bytes, size_t size, uint8_t *ret, size_t ret_size);

#endif
