/* tally/symbolize.h: tables are read for frames that lack names. */
#include <tally/symbolize.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/hex.h"
#include "base/option_struct.h"
#include "base/table.h"
#include "fleet/symbolizer.h"

/* --- a table --- */

/* How many leaves a table of stacks has: one more is stack_id, and tables of older editions lack
 * two. */
static uint32_t stack_leaves(const struct parquet_reader *reader)
{
	return STACK_FIELDS + (tally_parquet_find(reader, "frames", "start") >= 0 ? 1 : 0) +
	       (tally_parquet_find(reader, "named", "named") >= 0 ? 1 : 0);
}

int tally_symbolizer_open_table(const char *path, struct fleet_table *ret,
				struct tally_error *error)
{
	const char *why;
	int result = tally_fleet_table_open(path, ret, NULL, &why);

	if (!result && ret->reader.leaf_count != stack_leaves(&ret->reader)) {
		result = -ENOTSUP;
		why = "it does not have the columns of a table of stacks (tally-export(1)), and "
		      "others would be lost";
	}
	return result ? tally_fail(error, result, -1, "%s: %s", path, why) : 0;
}

int tally_symbolizer_read(const struct fleet_table *table, const char *path, uint32_t group,
			  struct stack_rows *ret, struct tally_error *error)
{
	const char *why;
	int result = tally_stack_rows_read(&table->reader, group, (1U << STACK_FIELDS) - 1,
					   1U << STACK_START, ret, &why);

	return result ? tally_fail(error, result, -1, "%s: %s", path, why) : 0;
}

/* --- builds and places --- */

/* The bytes of a build-id; 0: it is none. */
static uint8_t read_id(const struct parquet_text *text, uint8_t ret[20])
{
	if (text->size % 2 || text->size > 40)
		return 0;
	for (uint32_t i = 0; i < text->size; i += 2) {
		int high = hex_digit((char)text->bytes[i]);
		int low = hex_digit((char)text->bytes[i + 1]);

		if (high < 0 || low < 0)
			return 0;
		ret[i / 2] = (uint8_t)(high << 4 | low);
	}
	return (uint8_t)(text->size / 2);
}

/* Its number + 1; 0: it is no build-id, or is not known.  -ENOMEM, -E2BIG. */
static int64_t build_of(struct tally_symbolizer *symbolizer, const struct parquet_text *text,
			bool add)
{
	struct symbolizer_build build = {.size = 0};
	uint32_t room = array_room(symbolizer->build_room, symbolizer->build_count + 1, 64);
	int64_t id;
	uint64_t *number;
	bool added;

	build.size = read_id(text, build.bytes);
	if (!build.size)
		return 0;
	id = tally_strings_intern(&symbolizer->texts, (const char *)text->bytes, text->size);
	if (id < 0)
		return id;
	number = tally_map_find(&symbolizer->builds, (uint64_t)id);
	if (number || !add)
		return number ? (int64_t)*number + 1 : 0;
	if (symbolizer->build_count == SYMBOLIZER_BUILDS_MOST)
		return -E2BIG;
	if (room != symbolizer->build_room &&
	    !array_resize(&symbolizer->list, room, sizeof(*symbolizer->list)))
		return -ENOMEM;
	symbolizer->build_room = room;
	number = tally_map_put(&symbolizer->builds, (uint64_t)id, &added);
	if (!number)
		return -ENOMEM;
	build.id = symbolizer->texts.text[id];
	*number = symbolizer->build_count;
	symbolizer->list[symbolizer->build_count++] = build;
	return symbolizer->build_count;
}

uint32_t *tally_symbolizer_builds(struct tally_symbolizer *symbolizer,
				  const struct stack_rows *rows, bool add)
{
	const struct parquet_values *ids = &rows->of[STACK_BUILD_ID];
	uint32_t *builds = calloc(ids->text_count + 1ULL, sizeof(*builds));

	for (uint32_t i = 0; builds && i < ids->text_count; i++) {
		int64_t build = build_of(symbolizer, &ids->texts[i], add);

		if (build < 0) {
			free(builds);
			return NULL;
		}
		builds[i] = (uint32_t)build;
	}
	return builds;
}

/* The text of a field; empty where there is none. */
static struct parquet_text text_at(const struct stack_rows *rows, enum stack_field field,
				   uint32_t place)
{
	uint64_t number = stack_rows_value(rows, field, place);

	return number == UINT64_MAX ? (struct parquet_text){(const uint8_t *)"", 0}
				    : rows->of[field].texts[number];
}

bool tally_symbolizer_place(const struct stack_rows *rows, const uint32_t *builds, uint32_t place,
			    uint64_t *ret)
{
	uint64_t id = stack_rows_value(rows, STACK_BUILD_ID, place);
	uint64_t offset = stack_rows_value(rows, STACK_OFFSET, place);
	struct parquet_text image;

	if (id == UINT64_MAX || !builds[id] || offset >> SYMBOLIZER_OFFSET_BITS ||
	    text_at(rows, STACK_SYMBOL, place).size)
		return false;
	/* Of "[vdso]" there is no file to look in; places of the kernel are not those of a file. */
	image = text_at(rows, STACK_IMAGE, place);
	if (!image.size || image.bytes[0] != '/' || memchr(image.bytes, 0, image.size) ||
	    image.size >= FLEET_NAME_SIZE ||
	    tally_fleet_is_kernel((const char *)image.bytes, image.size))
		return false;
	*ret = (uint64_t)(builds[id] - 1) << SYMBOLIZER_OFFSET_BITS | offset;
	return true;
}

/* --- all tables --- */

struct opening {
	struct tally_symbolizer *symbolizer;
	struct tally_error *error;
};

static int add_place(struct tally_symbolizer *symbolizer, const struct stack_rows *rows,
		     uint32_t place, uint64_t key)
{
	struct symbolizer_build *build = &symbolizer->list[key >> SYMBOLIZER_OFFSET_BITS];
	bool added;

	build->frames++;
	symbolizer->result.nameless++;
	if (!build->path) {
		struct parquet_text image = text_at(rows, STACK_IMAGE, place);
		int64_t path =
		    tally_strings_intern(&symbolizer->texts, (const char *)image.bytes, image.size);

		if (path < 0)
			return -ENOMEM;
		build->path = symbolizer->texts.text[path];
	}
	if (!tally_map_put(&symbolizer->places, key, &added))
		return -ENOMEM;
	return symbolizer->places.count > SYMBOLIZER_PLACES_MOST ? -E2BIG : 0;
}

static int add_group(const struct opening *opening, const struct fleet_table *table,
		     const char *path, uint32_t group)
{
	struct tally_symbolizer *symbolizer = opening->symbolizer;
	struct stack_rows rows;
	uint32_t *builds = NULL;
	uint64_t key;
	int result = tally_symbolizer_read(table, path, group, &rows, opening->error);

	if (!result) {
		builds = tally_symbolizer_builds(symbolizer, &rows, true);
		result = builds ? 0 : -ENOMEM;
	}
	for (uint32_t place = 0; place < rows.places && !result; place++)
		if (tally_symbolizer_place(&rows, builds, place, &key))
			result = add_place(symbolizer, &rows, place, key);
	free(builds);
	tally_stack_rows_done(&rows);
	if (result == -E2BIG)
		tally_fail(opening->error, result, -1,
			   "%s: more than 8,388,608 places lack names; symbolize parts of it",
			   symbolizer->folder);
	return result;
}

static int add_file(struct tally_symbolizer *symbolizer, const char *path)
{
	uint32_t room = array_room(symbolizer->file_room, symbolizer->file_count + 1, 64);

	if (symbolizer->file_count == FLEET_FILES_MOST)
		return -EFBIG;
	if (room != symbolizer->file_room &&
	    !array_resize(&symbolizer->files, room, sizeof(*symbolizer->files)))
		return -ENOMEM;
	symbolizer->file_room = room;
	/* A link stays one: what it leads to is replaced. */
	symbolizer->files[symbolizer->file_count] = realpath(path, NULL);
	if (!symbolizer->files[symbolizer->file_count])
		return -errno;
	symbolizer->file_count++;
	return 0;
}

static int take_file(void *context, const char *path, const char *name)
{
	const struct opening *opening = context;
	struct tally_symbolizer *symbolizer = opening->symbolizer;
	uint64_t before = symbolizer->result.nameless;
	struct fleet_table table;
	int result;

	if (!tally_fleet_named(name, "stacks"))
		return 0;
	symbolizer->result.tables++;
	result = tally_symbolizer_open_table(path, &table, opening->error);
	if (!result && fleet_claims_too_much(&symbolizer->claim, &table.reader))
		result = tally_fail(opening->error, -EBADMSG, -1, "%s: %s", path, FLEET_CLAIM_WHY);
	for (uint32_t group = 0; group < table.reader.group_count && !result; group++)
		result = add_group(opening, &table, path, group);
	tally_fleet_table_close(&table);
	if (!result && symbolizer->result.nameless != before)
		result = add_file(symbolizer, path);
	return result;
}

static int compare(const void *left, const void *right)
{
	const struct symbolizer_build *a = *(const struct symbolizer_build *const *)left;
	const struct symbolizer_build *b = *(const struct symbolizer_build *const *)right;

	return a->frames != b->frames ? (a->frames < b->frames) - (a->frames > b->frames)
				      : strcmp(a->id, b->id);
}

/* Builds that lack names, in the order in which they are reported. */
static int sort_builds(struct tally_symbolizer *symbolizer)
{
	symbolizer->order = calloc(symbolizer->build_count + 1ULL, sizeof(*symbolizer->order));
	if (!symbolizer->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < symbolizer->build_count; i++)
		if (symbolizer->list[i].frames)
			symbolizer->order[symbolizer->order_count++] = &symbolizer->list[i];
	qsort(symbolizer->order, symbolizer->order_count, sizeof(*symbolizer->order), compare);
	return 0;
}

int tally_symbolizer_open(const char *folder, struct tally_symbolizer **ret,
			  struct tally_error *error)
{
	struct tally_symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
	struct tally_error own = {0};
	struct opening opening = {.symbolizer = symbolizer, .error = error ? error : &own};
	int result;

	if (!symbolizer)
		return -ENOMEM;
	opening.error->code = 0;
	symbolizer->folder = strdup(folder);
	result = symbolizer->folder ? tally_fleet_walk(folder, take_file, &opening) : -ENOMEM;
	if (!result && !symbolizer->result.tables)
		result = tally_fail(opening.error, -ENOENT, -1,
				    "%s: there is no table of stacks (stacks*.parquet) in this "
				    "folder",
				    folder);
	if (!result)
		result = sort_builds(symbolizer);
	if (!result && symbolizer->file_count)
		result = tally_symbolizer_make_data(symbolizer, opening.error);
	if (result && !opening.error->code)
		tally_fail(opening.error, result, -1, "%s: %s", folder, strerror(-result));
	if (result)
		tally_symbolizer_close(symbolizer);
	else
		*ret = symbolizer;
	return result;
}

void tally_symbolizer_close(struct tally_symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	if (symbolizer->data)
		tally_data_close(symbolizer->data);
	for (uint32_t i = 0; i < symbolizer->file_count; i++)
		free(symbolizer->files[i]);
	free(symbolizer->files);
	tally_strings_done(&symbolizer->texts);
	tally_map_done(&symbolizer->builds);
	tally_map_done(&symbolizer->places);
	free(symbolizer->list);
	free(symbolizer->order);
	free(symbolizer->lines);
	free(symbolizer->folder);
	free(symbolizer);
}

struct tally_data *tally_symbolizer_data(const struct tally_symbolizer *symbolizer)
{
	return symbolizer->data;
}

void tally_symbolizer_session_options(struct tally_session_options *to)
{
	to->places = true;
	to->functions = true;
}

int tally_symbolizer_write(struct tally_symbolizer *symbolizer, struct tally_session *session,
			   bool no_lines, struct tally_symbolizer_result *ret,
			   struct tally_error *error)
{
	int result = 0;

	if (symbolizer->data) {
		if (!session || tally_session_data(session) != symbolizer->data)
			return tally_fail(error, -EINVAL, -1,
					  "%s: the session is of another recording",
					  symbolizer->folder);
		result = tally_symbolizer_look_up(symbolizer, session, no_lines, error);
		if (!result)
			result = tally_symbolizer_rewrite(symbolizer, session, error);
	}
	if (!result && ret)
		result = tally_result_copy(ret, sizeof(symbolizer->result), &symbolizer->result);
	return result;
}

int tally_symbolizer_build(const struct tally_symbolizer *symbolizer, size_t index,
			   struct tally_symbolizer_build *ret)
{
	const struct symbolizer_build *build;
	struct tally_symbolizer_build made;

	if (index >= symbolizer->order_count)
		return -ENOENT;
	build = symbolizer->order[index];
	made = (struct tally_symbolizer_build){.build_id = build->id,
					       .path = build->path,
					       .frames = build->frames,
					       .named = build->named,
					       .why = build->why};
	return tally_result_copy(ret, sizeof(made), &made);
}
