#include "sqlite/sqlite_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "sqlite/sqlite_row.h"
#include "sqlite/sqlite_tree.h"

#define ROWS_BETWEEN ((uint64_t)1 << 16) /* two looks at whether to end */

void tally_sqlite_index_done(struct sqlite_index *index)
{
	free(index->values);
	free(index->runs);
	tally_strings_done(&index->texts);
	*index = (struct sqlite_index){.text = index->text};
}

static int add_run(struct sqlite_index *index, uint64_t id)
{
	if (index->run_count == index->run_room) {
		size_t room = index->run_room ? index->run_room * 2 : 16;

		if (!array_resize(&index->runs, room, sizeof(*index->runs)))
			return -ENOMEM;
		index->run_room = room;
	}
	index->runs[index->run_count++] = (struct sqlite_id_run){index->count, id};
	return 0;
}

static int add(struct sqlite_index *index, uint64_t id, uint32_t value)
{
	if (index->count == index->room) {
		uint64_t room = index->room ? index->room * 2 : 1024;

		if (!array_resize(&index->values, room, sizeof(*index->values)))
			return -ENOMEM;
		index->room = room;
	}
	if ((!index->count || id != index->next_id) && add_run(index, id))
		return -ENOMEM;
	index->next_id = id + 1;
	if (value > index->most)
		index->most = value;
	index->values[index->count++] = value;
	return 0;
}

int tally_sqlite_index_null(struct sqlite_index *index, uint64_t id)
{
	return add(index, id, 0);
}

int tally_sqlite_index_number(struct sqlite_index *index, uint64_t id, uint64_t number)
{
	return number < UINT32_MAX ? add(index, id, (uint32_t)number + 1) : -EFBIG;
}

int tally_sqlite_index_text(struct sqlite_index *index, uint64_t id, const char *text,
			    size_t length)
{
	int64_t number = tally_strings_intern(&index->texts, text, length);

	return number < 0 ? (int)number : tally_sqlite_index_number(index, id, (uint64_t)number);
}

/* --- the tree --- */

static int compare_texts(const void *left, const void *right, void *context)
{
	const struct tally_strings *texts = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint32_t shorter =
	    texts->length[a] < texts->length[b] ? texts->length[a] : texts->length[b];
	int order = memcmp(texts->text[a], texts->text[b], shorter);

	return order
		   ? order
		   : (texts->length[a] > texts->length[b]) - (texts->length[a] < texts->length[b]);
}

/* The numbers of texts in the order of their bytes; NULL: out of memory. */
static uint32_t *sorted_texts(struct tally_strings *texts)
{
	uint32_t *order = array_new(texts->count + 1, sizeof(*order));

	for (uint32_t i = 0; order && i < texts->count; i++)
		order[i] = i;
	if (order)
		qsort_r(order, texts->count, sizeof(*order), compare_texts, texts);
	return order;
}

/* By a counting sort: the ids of all rows, those of a value beside each other in their order, and
 * where each value's end. */
static int sort_ids(struct sqlite_index *index, uint64_t **ret_ids, uint64_t **ret_ends)
{
	uint64_t *ids = array_new(index->count + 1, sizeof(*ids));
	uint64_t *ends = table_new((size_t)index->most + 1, sizeof(*ends)), sum = 0;

	if (!ids || !ends) {
		free(ids);
		free(ends);
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < index->count; i++)
		ends[index->values[i]]++;
	for (uint64_t i = 0; i <= index->most; i++) {
		uint64_t here = ends[i];

		ends[i] = sum;
		sum += here;
	}
	for (size_t run = 0; run < index->run_count; run++) {
		uint64_t row = index->runs[run].row, id = index->runs[run].id;
		uint64_t until =
		    run + 1 < index->run_count ? index->runs[run + 1].row : index->count;

		for (; row < until; row++)
			ids[ends[index->values[row]]++] = id++;
	}
	*ret_ids = ids;
	*ret_ends = ends;
	return 0;
}

struct index_writer {
	struct sqlite_tree tree;
	struct tally_buf row;
	const uint64_t *ids, *ends;
	tally_sqlite_ask_fn ask;
	void *context;
	uint64_t written;
};

/* The keys of a value: it, and the id of a row. */
static int write_value(struct index_writer *writer, uint32_t value, struct sqlite_value key)
{
	struct sqlite_value pair[2] = {key, {.kind = SQLITE_NUMBER}};
	uint64_t from = value ? writer->ends[value - 1] : 0;
	int result = 0;

	for (uint64_t i = from; i < writer->ends[value] && !result; i++) {
		pair[1].number = writer->ids[i];
		result = tally_sqlite_row(&writer->row, pair, 2);
		if (!result)
			result = tally_sqlite_tree_add(&writer->tree, 0, writer->row.data,
						       writer->row.size);
		if (!result && ++writer->written % ROWS_BETWEEN == 0 && writer->ask &&
		    writer->ask(writer->context))
			result = -ECANCELED;
	}
	return result;
}

static int write_values(struct sqlite_index *index, struct index_writer *writer)
{
	uint32_t *order = index->text ? sorted_texts(&index->texts) : NULL;
	int result = index->text && !order ? -ENOMEM : 0;

	if (!result)
		result = write_value(writer, 0, (struct sqlite_value){.kind = SQLITE_NONE});
	for (uint32_t i = 0; i < index->most && !result; i++) {
		uint32_t number = order ? order[i] : i;
		struct sqlite_value key = {.kind = SQLITE_NUMBER, .number = number};

		if (order)
			key = (struct sqlite_value){SQLITE_TEXT, index->texts.length[number],
						    index->texts.text[number]};
		result = write_value(writer, number + 1, key);
	}
	free(order);
	return result;
}

int tally_sqlite_index_write(struct sqlite_index *index, struct sqlite_pages *pages,
			     tally_sqlite_ask_fn ask, void *context, uint32_t *ret)
{
	struct index_writer writer = {.ask = ask, .context = context};
	uint64_t *ids = NULL, *ends = NULL;
	int result = sort_ids(index, &ids, &ends);

	free(index->values);
	index->values = NULL;
	tally_sqlite_tree_init(&writer.tree, pages, true);
	writer.ids = ids;
	writer.ends = ends;
	if (!result)
		result = write_values(index, &writer);
	if (!result)
		result = tally_sqlite_tree_end(&writer.tree, ret);
	tally_sqlite_tree_done(&writer.tree);
	tally_buf_done(&writer.row);
	free(ids);
	free(ends);
	tally_sqlite_index_done(index);
	return result;
}
