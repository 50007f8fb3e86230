/* The values of one column in one group of rows, and the pages that they become. */
#ifndef TALLY_PARQUET_CHUNK_H
#define TALLY_PARQUET_CHUNK_H

#include "base/buf.h"
#include "base/map.h"
#include "parquet/parquet.h"

struct parquet_chunk {
	enum parquet_type type;
	bool in_list;
	uint64_t *values;
	uint32_t count, room;
};

/* How many elements each row of the group has, when there is a list. */
struct parquet_lengths {
	uint32_t *elements;
	uint32_t rows, room;
};

/* What the end of the file says about a chunk that was written. */
struct parquet_written {
	uint64_t offset, dictionary; /* of the first page of data, and of the dictionary; 0: none */
	uint64_t size, plain_size;   /* bytes, with the headers of pages; before compression */
	uint64_t values;             /* and places of empty lists */
	uint32_t least, most, least_size, most_size; /* places of bytes in the writer's `bounds` */
	bool bounded;
};

/* 0 or -ENOMEM. */
int tally_parquet_chunk_add(struct parquet_chunk *chunk, uint64_t value);
/* Appends the chunk's pages, which begin at `offset` of the file, and what bounds its values.
 * `lengths` counts for columns of the list alone.  0, -ENOMEM or -EIO. */
int tally_parquet_chunk_write(const struct parquet_chunk *chunk,
			      const struct parquet_lengths *lengths,
			      const struct tally_strings *texts, uint64_t offset,
			      struct tally_buf *to, struct tally_buf *bounds,
			      struct parquet_written *ret);

#endif
