/* The values of one column in one group of rows, and the pages that they become. */
#ifndef TALLY_PARQUET_CHUNK_H
#define TALLY_PARQUET_CHUNK_H

#include <errno.h>
#include <stdbool.h>
#include "base/buf.h"
#include "base/map.h"
#include "parquet/parquet.h"

struct element_list;

struct parquet_chunk {
	enum parquet_type type;
	bool varies; /* else all values are `only`, and none is in `values` */
	uint64_t only;
	uint64_t *values;
	uint32_t count, room;
};

/* What the end of the file says about a chunk that was written. */
struct parquet_written {
	uint64_t offset, dictionary; /* of the first page of data, and of the dictionary */
	uint64_t size, plain_size;   /* bytes, with the headers of pages; before compression */
	uint64_t values;             /* and places of empty lists */
	uint32_t least, most, least_size, most_size; /* places of bytes in the writer's `bounds` */
	bool bounded, has_dictionary;
};

/* The pages of a chunk; places in the file and of bounds are counted from the start of each. */
struct parquet_pages {
	struct tally_buf bytes, bounds;
	struct parquet_written written;
};

/* Makes room for another value, which differs from one before.  0 or -ENOMEM. */
int tally_parquet_chunk_grow(struct parquet_chunk *chunk);
/* 0 or -ENOMEM. */
static inline int parquet_chunk_add(struct parquet_chunk *chunk, uint64_t value)
{
	if (!chunk->varies && (!chunk->count || value == chunk->only)) {
		chunk->only = value;
		chunk->count++;
		return 0;
	}
	if ((!chunk->varies || chunk->count == chunk->room) && tally_parquet_chunk_grow(chunk))
		return -ENOMEM;
	chunk->values[chunk->count++] = value;
	return 0;
}
static inline uint64_t parquet_chunk_value(const struct parquet_chunk *chunk, uint32_t at)
{
	return chunk->varies ? chunk->values[at] : chunk->only;
}
/* Forgets all values, and keeps the memory. */
static inline void parquet_chunk_clear(struct parquet_chunk *chunk)
{
	chunk->count = 0;
	chunk->varies = false;
}
/* Makes the chunk's pages, in buffers that are empty, and what bounds its values.  `list`: of a
 * field, whose values are those of the list's elements; NULL of a plain column.  0, -ENOMEM or
 * -EIO. */
int tally_parquet_chunk_write(const struct parquet_chunk *chunk, const struct element_list *list,
			      const struct tally_strings *texts, struct parquet_pages *ret);
/* A group of so many rows, with the pages of each chunk; by any thread.  0, -ENOMEM, or -errno of
 * writing. */
int tally_parquet_put_group(struct parquet_writer *writer, uint32_t rows,
			    const struct parquet_pages *pages);

#endif
