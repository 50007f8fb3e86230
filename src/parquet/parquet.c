#include "parquet/parquet.h"

#include <errno.h>
#include <stdlib.h>
#include "base/table.h"
#include "parquet/chunk.h"
#include "parquet/thrift.h"
#include "parquet/zstd_page.h"

#define MAGIC "PAR1"

struct group {
	uint64_t rows, offset;
};

struct parquet_writer {
	FILE *out;
	const struct parquet_table *table;
	uint32_t chunk_count;
	uint64_t offset, rows; /* written */
	struct group *groups;
	struct parquet_written *written; /* by group, then by chunk */
	uint32_t group_count, group_room;
	struct tally_buf bounds;
};

static const struct parquet_column *column_of(const struct parquet_writer *writer, uint32_t chunk)
{
	const struct parquet_table *table = writer->table;

	return chunk < table->column_count ? &table->columns[chunk]
					   : &table->fields[chunk - table->column_count];
}

int tally_parquet_new(FILE *out, const struct parquet_table *table, struct parquet_writer **ret)
{
	struct parquet_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return -ENOMEM;
	writer->out = out;
	writer->table = table;
	writer->chunk_count = (uint32_t)(table->column_count + table->field_count);
	*ret = writer;
	return 0;
}

void tally_parquet_free(struct parquet_writer *writer)
{
	if (!writer)
		return;
	free(writer->groups);
	free(writer->written);
	tally_buf_done(&writer->bounds);
	free(writer);
}

const struct parquet_table *tally_parquet_table(const struct parquet_writer *writer)
{
	return writer->table;
}

/* --- groups of rows --- */

static int put_bytes(struct parquet_writer *writer, const void *bytes, size_t size)
{
	errno = 0;
	if (fwrite(bytes, 1, size, writer->out) != size)
		return errno ? -errno : -EIO;
	writer->offset += size;
	return 0;
}

static int begin_file(struct parquet_writer *writer)
{
	return writer->offset ? 0 : put_bytes(writer, MAGIC, 4);
}

/* Room for one more group's facts. */
static bool group_room(struct parquet_writer *writer)
{
	uint32_t room = array_room(writer->group_room, writer->group_count + 1, 16);

	if (room == writer->group_room)
		return true;
	if (!array_resize(&writer->groups, room, sizeof(*writer->groups)) ||
	    !array_resize(&writer->written, (size_t)room * writer->chunk_count,
			  sizeof(*writer->written)))
		return false;
	writer->group_room = room;
	return true;
}

/* The pages of one column; places in the file and in the bounds are counted from theirs. */
static int put_pages(struct parquet_writer *writer, const struct parquet_pages *pages,
		     struct parquet_written *ret)
{
	uint32_t bounds = (uint32_t)writer->bounds.size;

	*ret = pages->written;
	ret->offset += writer->offset;
	ret->dictionary += ret->has_dictionary ? writer->offset : 0;
	ret->least += bounds;
	ret->most += bounds;
	tally_buf_add(&writer->bounds, pages->bounds.data, pages->bounds.size);
	return writer->bounds.failed ? -ENOMEM
				     : put_bytes(writer, pages->bytes.data, pages->bytes.size);
}

int tally_parquet_put_group(struct parquet_writer *writer, uint32_t rows,
			    const struct parquet_pages *pages)
{
	int result = begin_file(writer);

	if (!result && !group_room(writer))
		result = -ENOMEM;
	if (!result)
		writer->groups[writer->group_count] =
		    (struct group){.rows = rows, .offset = writer->offset};
	for (uint32_t i = 0; i < writer->chunk_count && !result; i++)
		result = put_pages(
		    writer, &pages[i],
		    &writer->written[(size_t)writer->group_count * writer->chunk_count + i]);
	writer->rows += rows;
	writer->group_count++;
	return result;
}

/* --- the end of the file: parquet.thrift, FileMetaData --- */

enum { REQUIRED = 0, REPEATED = 2 };

/* A node of the schema above the columns; -1: no repetition, no kind. */
static void put_parent(struct thrift *to, const char *name, int repetition, size_t children,
		       bool is_list)
{
	thrift_element(to);
	if (repetition >= 0)
		thrift_i32(to, 3, repetition);
	thrift_text(to, 4, name, strlen(name));
	thrift_i32(to, 5, (int32_t)children);
	if (is_list) {
		thrift_i32(to, 6, 3);
		thrift_struct(to, 10);
		thrift_empty(to, 3);
		thrift_end(to);
	}
	thrift_end(to);
}

/* The types: how a value is stored, and what it means. */
static int stored_type(enum parquet_type type)
{
	return type == PARQUET_TEXT ? 6 : type == PARQUET_I32 ? 1 : 2;
}

static void put_column(struct thrift *to, const struct parquet_column *column)
{
	thrift_element(to);
	thrift_i32(to, 1, stored_type(column->type));
	thrift_i32(to, 3, REQUIRED);
	thrift_text(to, 4, column->name, strlen(column->name));
	if (column->type == PARQUET_TEXT) {
		thrift_i32(to, 6, 0); /* UTF8 */
		thrift_struct(to, 10);
		thrift_empty(to, 1);
		thrift_end(to);
	} else if (column->type == PARQUET_U64) {
		thrift_i32(to, 6, 14); /* UINT_64 */
		thrift_struct(to, 10);
		thrift_struct(to, 10);
		thrift_field(to, 1, THRIFT_I8);
		tally_buf_byte(to->to, 64);
		thrift_bool(to, 2, false);
		thrift_end(to);
		thrift_end(to);
	} else if (column->type == PARQUET_TIME) {
		thrift_i32(to, 6, 10); /* TIMESTAMP_MICROS */
		thrift_struct(to, 10);
		thrift_struct(to, 8);
		thrift_bool(to, 1, true);
		thrift_struct(to, 2);
		thrift_empty(to, 2); /* microseconds */
		thrift_end(to);
		thrift_end(to);
		thrift_end(to);
	}
	thrift_end(to);
}

static void put_schema(const struct parquet_table *table, struct thrift *to)
{
	size_t nodes = 1 + table->column_count + (table->list ? 3 + table->field_count : 0);

	thrift_list(to, 2, THRIFT_STRUCT, (uint32_t)nodes);
	put_parent(to, "schema", -1, table->column_count + (table->list != NULL), false);
	for (size_t i = 0; i < table->column_count; i++)
		put_column(to, &table->columns[i]);
	if (!table->list)
		return;
	put_parent(to, table->list, REQUIRED, 1, true);
	put_parent(to, "list", REPEATED, 1, false);
	put_parent(to, "element", REQUIRED, table->field_count, false);
	for (size_t i = 0; i < table->field_count; i++)
		put_column(to, &table->fields[i]);
}

static void put_path(const struct parquet_writer *writer, uint32_t chunk, struct thrift *to)
{
	const char *name = column_of(writer, chunk)->name, *list = writer->table->list;
	const char *path[] = {list, "list", "element", name};
	uint32_t from = chunk >= writer->table->column_count ? 0 : 3;

	thrift_list(to, 3, THRIFT_BINARY, 4 - from);
	for (uint32_t i = from; i < 4; i++)
		thrift_bytes(to, path[i], strlen(path[i]));
}

static void put_chunk(const struct parquet_writer *writer, uint32_t chunk,
		      const struct parquet_written *written, struct thrift *to)
{
	/* RLE of levels, and dictionaries or differences. */
	int encodings[] = {3, written->has_dictionary ? 8 : 5, 0};
	uint32_t count = written->has_dictionary ? 3 : 2;

	thrift_element(to);
	thrift_i64(to, 2, 0);
	thrift_struct(to, 3);
	thrift_i32(to, 1, stored_type(column_of(writer, chunk)->type));
	thrift_list(to, 2, THRIFT_I32, count);
	for (uint32_t i = 0; i < count; i++)
		thrift_varint(to->to, thrift_zigzag(encodings[i]));
	put_path(writer, chunk, to);
	thrift_i32(to, 4, tally_parquet_codec);
	thrift_i64(to, 5, (int64_t)written->values);
	thrift_i64(to, 6, (int64_t)written->plain_size);
	thrift_i64(to, 7, (int64_t)written->size);
	thrift_i64(to, 9, (int64_t)written->offset);
	if (written->has_dictionary)
		thrift_i64(to, 11, (int64_t)written->dictionary);
	if (written->bounded) {
		thrift_struct(to, 12);
		thrift_i64(to, 3, 0); /* nulls */
		thrift_text(to, 5, writer->bounds.data + written->most, written->most_size);
		thrift_text(to, 6, writer->bounds.data + written->least, written->least_size);
		thrift_end(to);
	}
	thrift_end(to);
	thrift_end(to);
}

static void put_group(const struct parquet_writer *writer, uint32_t number, struct thrift *to)
{
	const struct parquet_written *written =
	    &writer->written[(size_t)number * writer->chunk_count];
	uint64_t size = 0, plain = 0;

	thrift_element(to);
	thrift_list(to, 1, THRIFT_STRUCT, writer->chunk_count);
	for (uint32_t i = 0; i < writer->chunk_count; i++) {
		put_chunk(writer, i, &written[i], to);
		size += written[i].size;
		plain += written[i].plain_size;
	}
	thrift_i64(to, 2, (int64_t)plain);
	thrift_i64(to, 3, (int64_t)writer->groups[number].rows);
	thrift_i64(to, 5, (int64_t)writer->groups[number].offset);
	thrift_i64(to, 6, (int64_t)size);
	thrift_end(to);
}

int tally_parquet_end(struct parquet_writer *writer)
{
	static const char by[] = "tally";
	struct tally_buf end = {0};
	struct thrift to = {.to = &end};
	int result = begin_file(writer);

	thrift_i32(&to, 1, 2);
	put_schema(writer->table, &to);
	thrift_i64(&to, 3, (int64_t)writer->rows);
	thrift_list(&to, 4, THRIFT_STRUCT, writer->group_count);
	for (uint32_t i = 0; i < writer->group_count; i++)
		put_group(writer, i, &to);
	thrift_text(&to, 6, by, sizeof(by) - 1);
	thrift_list(&to, 7, THRIFT_STRUCT, writer->chunk_count); /* orders: by type */
	for (uint32_t i = 0; i < writer->chunk_count; i++) {
		thrift_element(&to);
		thrift_empty(&to, 1);
		thrift_end(&to);
	}
	thrift_stop(&to);
	tally_buf_u32(&end, (uint32_t)end.size);
	tally_buf_add(&end, MAGIC, 4);
	if (!result)
		result = end.failed ? end.failed : put_bytes(writer, end.data, end.size);
	if (!result && fflush(writer->out))
		result = -errno;
	tally_buf_done(&end);
	return result;
}
