#include "parquet/parquet_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/table.h"
#include "parquet/thrift_read.h"

#define COLUMNS_MOST 1024U
#define DEPTH_MOST   16U

static int damaged(const char **ret_why, const char *why)
{
	*ret_why = why;
	return -EBADMSG;
}

/* --- the schema --- */

struct element {
	const uint8_t *name;
	size_t name_size;
	int64_t type, repetition, children, converted;
	int unit;
};

/* The unit of a time: of LogicalType, a union, TIMESTAMP is 8; its field 2 is the union of units.
 */
static int read_unit(struct thrift_from *from)
{
	int unit = 0;

	for (struct thrift_place kind = {0}; thrift_next(from, &kind);) {
		if (kind.field != 8 || kind.type != THRIFT_STRUCT) {
			tally_thrift_skip(from, kind.type, 0);
			continue;
		}
		for (struct thrift_place place = {0}; thrift_next(from, &place);) {
			if (place.field != 2 || place.type != THRIFT_STRUCT) {
				tally_thrift_skip(from, place.type, 0);
				continue;
			}
			for (struct thrift_place which = {0}; thrift_next(from, &which);) {
				unit = which.field * 3;
				tally_thrift_skip(from, which.type, 0);
			}
		}
	}
	return unit;
}

static void read_element(struct thrift_from *from, struct element *ret)
{
	*ret = (struct element){.type = -1, .converted = -1};
	for (struct thrift_place place = {0}; thrift_next(from, &place);) {
		if (place.field == 1)
			ret->type = thrift_number(from, &place);
		else if (place.field == 3)
			ret->repetition = thrift_number(from, &place);
		else if (place.field == 4 && place.type == THRIFT_BINARY)
			ret->name = thrift_read_bytes(from, &ret->name_size);
		else if (place.field == 5)
			ret->children = thrift_number(from, &place);
		else if (place.field == 6)
			ret->converted = thrift_number(from, &place);
		else if (place.field == 10 && place.type == THRIFT_STRUCT)
			ret->unit = read_unit(from);
		else
			tally_thrift_skip(from, place.type, 0);
	}
	if (!ret->unit) /* TIMESTAMP_MILLIS, TIMESTAMP_MICROS */
		ret->unit = ret->converted == 9 ? 3 : ret->converted == 10 ? 6 : 0;
}

/* What is above the element that is read. */
struct above {
	int64_t left; /* children that are still to come */
	uint8_t definition, repetition;
	char *root;
};

static int add_leaf(struct parquet_reader *reader, const struct element *element,
		    const struct above *above, uint8_t definition, uint8_t repetition)
{
	struct parquet_leaf *leaf = &reader->leaves[reader->leaf_count];
	char *name =
	    tally_arena_strndup(&reader->arena, (const char *)element->name, element->name_size);

	if (!name)
		return -ENOMEM;
	*leaf = (struct parquet_leaf){.root = above->root ? above->root : name,
				      .name = name,
				      .stored = (enum parquet_stored)element->type,
				      .definition_most = definition,
				      .repetition_most = repetition,
				      .unit = element->unit};
	reader->leaf_count++;
	return 0;
}

static int read_schema(struct parquet_reader *reader, struct thrift_from *from,
		       const char **ret_why)
{
	struct above above[DEPTH_MOST];
	unsigned depth = 0, type;
	uint32_t count = thrift_read_list(from, &type);
	struct element element;

	if (!count || count > COLUMNS_MOST || type != THRIFT_STRUCT || reader->leaves)
		return damaged(ret_why, "it has no columns, or too many");
	reader->leaves = calloc(count, sizeof(*reader->leaves));
	if (!reader->leaves)
		return -ENOMEM;
	read_element(from, &element);
	above[0] = (struct above){.left = element.children};
	for (uint32_t i = 1; i < count && !from->failed; i++) {
		struct above *parent = &above[depth];
		uint8_t definition, repetition;

		read_element(from, &element);
		if (from->failed || !element.name || parent->left <= 0)
			return damaged(ret_why, "its columns are invalid");
		definition = (uint8_t)(parent->definition + (element.repetition != 0));
		repetition = (uint8_t)(parent->repetition + (element.repetition == 2));
		parent->left--;
		if (element.children > 0) {
			if (++depth == DEPTH_MOST)
				return damaged(ret_why, "its columns are too deep");
			above[depth] = (struct above){.left = element.children,
						      .definition = definition,
						      .repetition = repetition,
						      .root = parent->root};
			if (!above[depth].root)
				above[depth].root = tally_arena_strndup(
				    &reader->arena, (const char *)element.name, element.name_size);
			if (!above[depth].root)
				return -ENOMEM;
		} else {
			int result =
			    element.type < 0 || element.type > PARQUET_STORED_FIXED
				? damaged(ret_why, "its columns are invalid")
				: add_leaf(reader, &element, parent, definition, repetition);

			if (result)
				return result;
		}
		while (depth && !above[depth].left)
			depth--;
	}
	return 0;
}

/* --- groups --- */

static void read_chunk(struct thrift_from *from, struct parquet_place *ret)
{
	int64_t first = 0, dictionary = 0;

	for (struct thrift_place place = {0}; thrift_next(from, &place);) {
		if (place.field != 3 || place.type != THRIFT_STRUCT) {
			tally_thrift_skip(from, place.type, 0);
			continue;
		}
		for (struct thrift_place of = {0}; thrift_next(from, &of);) {
			if (of.field == 4)
				ret->codec = (int)thrift_number(from, &of);
			else if (of.field == 5)
				ret->values = (uint64_t)thrift_number(from, &of);
			else if (of.field == 7)
				ret->size = (uint64_t)thrift_number(from, &of);
			else if (of.field == 9)
				first = thrift_number(from, &of);
			else if (of.field == 11)
				dictionary = thrift_number(from, &of);
			else
				tally_thrift_skip(from, of.type, 0);
		}
	}
	ret->at = (uint64_t)(dictionary > 0 && dictionary < first ? dictionary : first);
}

static int read_group(struct parquet_reader *reader, struct thrift_from *from,
		      struct parquet_group_read *group, const char **ret_why)
{
	unsigned type;

	group->places =
	    tally_arena_alloc(&reader->arena, (reader->leaf_count + 1) * sizeof(*group->places));
	if (!group->places)
		return -ENOMEM;
	for (struct thrift_place place = {0}; thrift_next(from, &place);) {
		if (place.field == 1 && place.type == THRIFT_LIST) {
			uint32_t count = thrift_read_list(from, &type);

			if (count != reader->leaf_count || type != THRIFT_STRUCT)
				return damaged(ret_why, "a group of rows lacks columns");
			for (uint32_t i = 0; i < count; i++)
				read_chunk(from, &group->places[i]);
		} else if (place.field == 3) {
			group->rows = (uint64_t)thrift_number(from, &place);
		} else {
			tally_thrift_skip(from, place.type, 0);
		}
	}
	for (uint32_t i = 0; i < reader->leaf_count; i++) {
		const struct parquet_place *of = &group->places[i];

		if (of->at > reader->size || of->size > reader->size - of->at)
			return damaged(ret_why, "it is cut short");
		if (group->rows > PARQUET_ROWS_MOST ||
		    of->values > (reader->leaves[i].repetition_most ? PARQUET_VALUES_MOST
								    : PARQUET_ROWS_MOST))
			return damaged(ret_why, "a group of rows is too large");
		reader->values += of->values + 1;
	}
	return 0;
}

static int read_groups(struct parquet_reader *reader, struct thrift_from *from,
		       const char **ret_why)
{
	unsigned type;
	uint32_t count = thrift_read_list(from, &type);
	int result = 0;

	if (!reader->leaf_count || reader->groups || (count && type != THRIFT_STRUCT))
		return damaged(ret_why, "its groups of rows are invalid");
	reader->groups = calloc(count + 1ULL, sizeof(*reader->groups));
	if (!reader->groups)
		return -ENOMEM;
	for (; reader->group_count < count && !result; reader->group_count++)
		result = read_group(reader, from, &reader->groups[reader->group_count], ret_why);
	return result;
}

int tally_parquet_open(struct parquet_reader *reader, const uint8_t *bytes, size_t size,
		       const char **ret_why)
{
	struct thrift_from from;
	uint32_t end;
	int result = 0;

	*reader = (struct parquet_reader){.bytes = bytes, .size = size};
	if (size < 12 || memcmp(bytes, "PAR1", 4) != 0 || memcmp(bytes + size - 4, "PAR1", 4) != 0)
		return damaged(ret_why, "it is not a Parquet file, or is cut short");
	end = load_u32(bytes + size - 8);
	if (end > size - 12)
		return damaged(ret_why, "it is cut short");
	from = (struct thrift_from){.at = bytes + size - 8 - end, .end = bytes + size - 8};
	for (struct thrift_place place = {0}; !result && thrift_next(&from, &place);) {
		if (place.field == 2 && place.type == THRIFT_LIST)
			result = read_schema(reader, &from, ret_why);
		else if (place.field == 4 && place.type == THRIFT_LIST)
			result = read_groups(reader, &from, ret_why);
		else
			tally_thrift_skip(&from, place.type, 0);
	}
	if (!result && (from.failed || !reader->groups))
		result = damaged(ret_why, "its end is damaged");
	return result;
}

void tally_parquet_close(struct parquet_reader *reader)
{
	free(reader->leaves);
	free(reader->groups);
	tally_arena_done(&reader->arena);
	*reader = (struct parquet_reader){0};
}

int tally_parquet_find(const struct parquet_reader *reader, const char *root, const char *name)
{
	for (uint32_t i = 0; i < reader->leaf_count; i++)
		if (!strcmp(reader->leaves[i].root, root) && !strcmp(reader->leaves[i].name, name))
			return (int)i;
	return -1;
}
