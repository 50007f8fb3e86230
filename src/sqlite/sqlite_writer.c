#include "sqlite/sqlite_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "sqlite/sqlite_row.h"
#include "sqlite/sqlite_tree.h"

#define OBJECTS       48U /* tables, indexes and views */
#define TABLE_INDEXES 2U

struct sqlite_table {
	struct sqlite_tree tree;
	struct sqlite_value values[SQLITE_COLUMNS];
	unsigned columns;
	bool rowids;
	struct {
		struct sqlite_index *index;
		unsigned column;
	} indexes[TABLE_INDEXES];
	unsigned index_count;
	struct tally_buf row;
};

/* A row of the schema; of table and index at most one. */
struct object {
	const char *type, *name, *of, *definition;
	struct sqlite_table *table;
	struct sqlite_index *index;
};

struct sqlite_writer {
	struct sqlite_pages pages;
	struct object objects[OBJECTS];
	unsigned count;
};

int tally_sqlite_new(int fd, const char *path, struct sqlite_writer **ret,
		     struct tally_error *error)
{
	struct sqlite_writer *writer = calloc(1, sizeof(*writer));

	if (!writer || tally_sqlite_pages_init(&writer->pages, fd, path, error)) {
		free(writer);
		return -ENOMEM;
	}
	*ret = writer;
	return 0;
}

void tally_sqlite_free(struct sqlite_writer *writer)
{
	if (!writer)
		return;
	for (unsigned i = 0; i < writer->count; i++) {
		struct object *object = &writer->objects[i];

		if (object->table) {
			tally_sqlite_tree_done(&object->table->tree);
			tally_buf_done(&object->table->row);
		}
		if (object->index)
			tally_sqlite_index_done(object->index);
		free(object->table);
		free(object->index);
	}
	tally_sqlite_pages_done(&writer->pages);
	free(writer);
}

static struct object *add_object(struct sqlite_writer *writer, const char *type, const char *name,
				 const char *definition)
{
	struct object *object = &writer->objects[writer->count];

	if (writer->count == OBJECTS)
		return NULL;
	writer->count++;
	*object = (struct object){.type = type, .name = name, .of = name, .definition = definition};
	return object;
}

int tally_sqlite_add_table(struct sqlite_writer *writer, const char *name, const char *definition,
			   unsigned columns, bool rowids, struct sqlite_table **ret)
{
	struct object *object =
	    columns <= SQLITE_COLUMNS ? add_object(writer, "table", name, definition) : NULL;

	if (!object)
		return -ENOSPC;
	object->table = calloc(1, sizeof(*object->table));
	if (!object->table)
		return -ENOMEM;
	tally_sqlite_tree_init(&object->table->tree, &writer->pages, !rowids);
	object->table->columns = columns;
	object->table->rowids = rowids;
	*ret = object->table;
	return 0;
}

int tally_sqlite_add_index(struct sqlite_writer *writer, struct sqlite_table *table,
			   unsigned column, bool text, const char *name, const char *definition)
{
	struct object *object = table->index_count < TABLE_INDEXES
				    ? add_object(writer, "index", name, definition)
				    : NULL;

	if (!object)
		return -ENOSPC;
	object->index = calloc(1, sizeof(*object->index));
	if (!object->index)
		return -ENOMEM;
	object->index->text = text;
	for (unsigned i = 0; i < writer->count; i++)
		if (writer->objects[i].table == table)
			object->of = writer->objects[i].name;
	table->indexes[table->index_count].index = object->index;
	table->indexes[table->index_count++].column = column;
	return 0;
}

int tally_sqlite_add_view(struct sqlite_writer *writer, const char *name, const char *definition)
{
	return add_object(writer, "view", name, definition) ? 0 : -ENOSPC;
}

/* --- rows --- */

void tally_sqlite_set(struct sqlite_table *table, unsigned column, uint64_t value)
{
	table->values[column] = (struct sqlite_value){.kind = SQLITE_NUMBER, .number = value};
}

void tally_sqlite_set_text(struct sqlite_table *table, unsigned column, const char *text,
			   size_t length)
{
	table->values[column] = (struct sqlite_value){SQLITE_TEXT, length, text};
}

void tally_sqlite_set_bytes(struct sqlite_table *table, unsigned column, const void *bytes,
			    size_t size)
{
	table->values[column] = (struct sqlite_value){SQLITE_BYTES, size, bytes};
}

static int add_to_index(struct sqlite_index *index, uint64_t id, const struct sqlite_value *value)
{
	if (value->kind == SQLITE_NONE)
		return tally_sqlite_index_null(index, id);
	return index->text ? tally_sqlite_index_text(index, id, value->bytes, value->number)
			   : tally_sqlite_index_number(index, id, value->number);
}

int tally_sqlite_add_row(struct sqlite_table *table)
{
	int64_t rowid = 0;
	int result = 0;

	if (table->rowids) {
		rowid = (int64_t)table->values[0].number;
		table->values[0].kind = SQLITE_NONE; /* it is the rowid */
	}
	for (unsigned i = 0; i < table->index_count && !result; i++)
		result = add_to_index(table->indexes[i].index, (uint64_t)rowid,
				      &table->values[table->indexes[i].column]);
	if (!result)
		result = tally_sqlite_row(&table->row, table->values, table->columns);
	if (!result)
		result =
		    tally_sqlite_tree_add(&table->tree, rowid, table->row.data, table->row.size);
	for (unsigned i = 0; i < table->columns; i++)
		table->values[i].kind = SQLITE_NONE;
	return result;
}

/* --- the end --- */

static struct sqlite_value text_value(const char *text)
{
	return (struct sqlite_value){SQLITE_TEXT, strlen(text), text};
}

/* A row of sqlite_schema: type, name, table, page of the root, SQL. */
static int describe(struct sqlite_tree *schema, int64_t rowid, const struct object *object,
		    uint32_t root)
{
	struct sqlite_value values[] = {text_value(object->type),
					text_value(object->name),
					text_value(object->of),
					{.kind = SQLITE_NUMBER, .number = root},
					text_value(object->definition)};
	struct tally_buf row = {0};
	int result = tally_sqlite_row(&row, values, sizeof(values) / sizeof(values[0]));

	if (!result)
		result = tally_sqlite_tree_add(schema, rowid, row.data, row.size);
	tally_buf_done(&row);
	return result;
}

int tally_sqlite_end(struct sqlite_writer *writer, tally_sqlite_ask_fn ask, void *context)
{
	struct sqlite_tree schema;
	uint8_t *first;
	int result = 0;

	tally_sqlite_tree_init(&schema, &writer->pages, false);
	for (unsigned i = 0; i < writer->count && !result; i++) {
		const struct object *object = &writer->objects[i];
		uint32_t root = 0;

		if (object->table)
			result = tally_sqlite_tree_end(&object->table->tree, &root);
		else if (object->index)
			result = tally_sqlite_index_write(object->index, &writer->pages, ask,
							  context, &root);
		if (!result)
			result = describe(&schema, i + 1, object, root);
	}
	if (!result)
		result = tally_sqlite_tree_first(&schema, &first);
	if (!result)
		result = tally_sqlite_pages_end(&writer->pages, first);
	tally_sqlite_tree_done(&schema);
	return result;
}
