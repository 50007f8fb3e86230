#include "parquet/parquet.h"

#include <errno.h>
#include <stdlib.h>
#include "base/pool.h"
#include "base/table.h"
#include "base/text.h"
#include "parquet/chunk.h"
#include "parquet/element_list.h"
#include "parquet/sorted_rows.h"

/* A group ends with so many rows, or values in all its columns: some 64 MB. */
#define GROUP_ROWS   (1U << 18)
#define GROUP_VALUES (1U << 23)

struct parquet_rows {
	struct parquet_writer *writer;
	const struct parquet_table *table;
	struct parquet_chunk *chunks; /* plain columns, then fields */
	struct parquet_pages *pages;  /* by chunk, while a group is written */
	uint32_t chunk_count;
	unsigned threads;       /* that write a group */
	uint32_t count, values; /* rows and values in the group so far */
	struct element_list list;
	struct tally_strings texts;
};

int tally_parquet_rows_new(struct parquet_writer *writer, unsigned threads,
			   struct parquet_rows **ret)
{
	const struct parquet_table *table = tally_parquet_table(writer);
	struct parquet_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	rows->writer = writer;
	rows->table = table;
	rows->threads = threads;
	rows->chunk_count = (uint32_t)(table->column_count + table->field_count);
	rows->list.field_count = (uint32_t)table->field_count;
	rows->chunks = calloc(rows->chunk_count, sizeof(*rows->chunks));
	rows->pages = calloc(rows->chunk_count, sizeof(*rows->pages));
	if (!rows->chunks || !rows->pages) {
		tally_parquet_rows_free(rows);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < rows->chunk_count; i++) {
		bool in_list = i >= table->column_count;

		rows->chunks[i].type =
		    in_list ? table->fields[i - table->column_count].type : table->columns[i].type;
	}
	*ret = rows;
	return 0;
}

void tally_parquet_rows_free(struct parquet_rows *rows)
{
	if (!rows)
		return;
	for (uint32_t i = 0; i < rows->chunk_count && rows->chunks && rows->pages; i++) {
		free(rows->chunks[i].values);
		tally_buf_done(&rows->pages[i].bytes);
		tally_buf_done(&rows->pages[i].bounds);
	}
	free(rows->chunks);
	free(rows->pages);
	tally_element_list_done(&rows->list);
	tally_strings_done(&rows->texts);
	free(rows);
}

int64_t tally_parquet_text(struct parquet_rows *rows, const char *text, size_t length)
{
	const uint8_t *bytes = (const uint8_t *)text;
	struct tally_buf valid = {0};
	size_t at = 0, from = 0;
	int64_t number;

	while (at < length) {
		size_t size = bytes[at] < 0x80 ? 1 : tally_text_utf8(bytes + at, length - at);

		if (!size) {
			tally_buf_add(&valid, bytes + from, at - from);
			tally_buf_text(&valid, "\xef\xbf\xbd");
			from = at + 1;
		}
		at += size ? size : 1;
	}
	if (!from)
		return tally_strings_intern(&rows->texts, text, length);
	tally_buf_add(&valid, bytes + from, length - from);
	number = valid.failed
		     ? -ENOMEM
		     : tally_strings_intern(&rows->texts, (const char *)valid.data, valid.size);
	tally_buf_done(&valid);
	return number;
}

/* --- groups --- */

static int encode_chunk(void *context, unsigned worker, size_t number)
{
	const struct parquet_rows *rows = context;
	struct parquet_pages *pages = &rows->pages[number];

	(void)worker;
	tally_buf_clear(&pages->bytes);
	tally_buf_clear(&pages->bounds);
	return tally_parquet_chunk_write(&rows->chunks[number],
					 number < rows->table->column_count ? NULL : &rows->list,
					 &rows->texts, pages);
}

int tally_parquet_rows_write(struct parquet_rows *rows)
{
	int result = 0;

	if (!rows->count)
		return 0;
	if (rows->table->order_count)
		result = tally_parquet_sort_rows(rows->chunks, rows->chunk_count,
						 rows->table->order, rows->table->order_count);
	if (!result && rows->table->list)
		result = tally_element_list_finish(&rows->list,
						   &rows->chunks[rows->table->column_count]);
	if (!result)
		result = tally_pool_run(rows->threads, rows->chunk_count, encode_chunk, rows);
	if (!result)
		result = tally_parquet_put_group(rows->writer, rows->count, rows->pages);
	for (uint32_t i = 0; i < rows->chunk_count; i++)
		parquet_chunk_clear(&rows->chunks[i]);
	tally_element_list_next(&rows->list);
	rows->count = rows->values = 0;
	return result;
}

int64_t tally_parquet_element(struct parquet_rows *rows, const uint64_t *values)
{
	return tally_element_list_number(&rows->list, values);
}

int64_t tally_parquet_another_element(struct parquet_rows *rows, const uint64_t *values)
{
	return tally_element_list_another(&rows->list, values);
}

int tally_parquet_row(struct parquet_rows *rows, const uint64_t *values, const uint32_t *elements,
		      uint32_t count)
{
	const struct parquet_table *table = rows->table;
	int result = 0;

	for (size_t i = 0; i < table->column_count && !result; i++)
		result = parquet_chunk_add(&rows->chunks[i], values[i]);
	if (!result && table->list)
		result = tally_element_list_add(&rows->list, elements, count);
	if (result)
		return result;
	rows->count++;
	rows->values += (uint32_t)(table->column_count + count * table->field_count);
	return rows->count < GROUP_ROWS && rows->values < GROUP_VALUES
		   ? 0
		   : tally_parquet_rows_write(rows);
}
