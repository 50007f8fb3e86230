#include "fleet/parquet_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/table.h"
#include "convert/code_places.h"
#include "fleet/fleet_base.h"
#include "session/numbers.h"

static const struct parquet_column columns[STACK_COLUMNS] = {
    {"stack_id", PARQUET_U64},
    {"named", PARQUET_I32},
};
enum {
	FRAME_BUILD_ID,
	FRAME_IMAGE,
	FRAME_OFFSET,
	FRAME_SYMBOL,
	FRAME_FILE,
	FRAME_LINE,
	FRAME_START,
	FRAME_FIELDS
};
static const struct parquet_column fields[FRAME_FIELDS] = {
    {"build_id", PARQUET_TEXT}, {"image", PARQUET_TEXT}, {"offset", PARQUET_U64},
    {"symbol", PARQUET_TEXT},   {"file", PARQUET_TEXT},  {"line", PARQUET_I32},
    {"start", PARQUET_U64},
};
const struct parquet_table tally_parquet_stacks_table = {
    .columns = columns,
    .column_count = STACK_COLUMNS,
    .list = "frames",
    .fields = fields,
    .field_count = FRAME_FIELDS,
};

/* How many nodes or lines before they are taken memory is fetched. */
#define AHEAD 8U

/* The numbers of an image's texts. */
struct image_texts {
	bool known;
	uint64_t build_id, path;
};

struct rows {
	const struct stack_table *stacks;
	struct code_places places;
	struct parquet_file *file;
	uint32_t *frames; /* of a stack: elements of the table's list */
	uint32_t room, count;
	struct image_texts *images; /* by image of the session */
	uint32_t image_room;
	struct last_text source; /* the file of the last line */
	uint32_t *elements;      /* by line of the places */
	bool *has_name;          /* the same */
	uint32_t named;          /* frames of the stack that have a name */
	struct tally_buf text;
	int failed;
};

static uint64_t text_of(struct rows *rows, const char *text)
{
	return tally_parquet_file_text(rows->file->rows, text, &rows->failed);
}

/* Of a place's image, by a frame that is there. */
static const struct image_texts *image_of(struct rows *rows, uint32_t image, const char *path)
{
	static const struct image_texts none;
	struct tally_image_facts facts;
	struct image_texts *texts;

	if (!array_reach(&rows->images, &rows->image_room, image, 64, sizeof(*rows->images))) {
		rows->failed = -ENOMEM;
		return &none;
	}
	texts = &rows->images[image];
	if (texts->known)
		return texts;
	tally_buf_clear(&rows->text);
	if (tally_session_image_facts(rows->places.convert->session, image, &facts))
		for (unsigned i = 0; facts.build_id && i < facts.build_id_size; i++)
			tally_buf_printf(&rows->text, "%02x", facts.build_id[i]);
	*texts = (struct image_texts){.known = true,
				      .build_id = text_of(rows, tally_buf_str(&rows->text)),
				      .path = text_of(rows, path ? path : "")};
	return texts;
}

static void make_element(struct rows *rows, size_t line, const uint64_t *values)
{
	/* A line is at one place of one image, or within another line there. */
	int64_t number = tally_parquet_another_element(rows->file->rows, values);

	if (number < 0)
		rows->failed = (int)number;
	rows->elements[line] = (uint32_t)number;
	rows->has_name[line] = values[FRAME_SYMBOL] != text_of(rows, "");
}

/* A place whose functions are left out: one frame. */
static void make_nameless(struct rows *rows, const struct code_place *place)
{
	const struct code_line *line = &rows->places.lines[place->first_line];
	const struct tally_frame frame =
	    tally_session_frame(rows->places.convert->session, rows->stacks->frames[line->frame]);
	const struct image_texts *image = image_of(rows, place->image, frame.image_path);
	uint64_t to[FRAME_FIELDS];

	to[FRAME_BUILD_ID] = image->build_id;
	to[FRAME_IMAGE] = image->path;
	to[FRAME_OFFSET] = place->place;
	to[FRAME_SYMBOL] = to[FRAME_FILE] = text_of(rows, "");
	to[FRAME_LINE] = 0;
	to[FRAME_START] = 0;
	make_element(rows, place->first_line, to);
}

/* The lines of a place. */
static void make_lines(struct rows *rows, const struct code_place *place)
{
	struct tally_session *session = rows->places.convert->session;
	struct fleet_base base = tally_fleet_base(session, place->image);

	for (uint32_t i = 0; i < place->line_count; i++) {
		const struct code_line *line = &rows->places.lines[place->first_line + i];
		const uint32_t number = rows->stacks->frames[line->frame];
		const struct tally_frame frame = tally_session_frame(session, number);
		const struct image_texts *image = image_of(rows, place->image, frame.image_path);
		uint64_t to[FRAME_FIELDS];

		if (place->first_line + i + AHEAD < rows->places.line_count)
			tally_session_frame_ahead(session, rows->stacks->frames[line[AHEAD].frame]);
		tally_buf_clear(&rows->text);
		tally_convert_frame_name(&frame, &rows->text);
		to[FRAME_BUILD_ID] = image->build_id;
		to[FRAME_IMAGE] = image->path;
		to[FRAME_OFFSET] = place->place - base.base;
		to[FRAME_SYMBOL] = text_of(rows, tally_buf_str(&rows->text));
		to[FRAME_FILE] = parquet_file_same_text(
		    rows->file->rows, &rows->source, line->file ? line->file : "", &rows->failed);
		to[FRAME_LINE] = line->line;
		to[FRAME_START] = tally_fleet_start(session, number);
		make_element(rows, place->first_line + (size_t)i, to);
	}
}

/* --- stacks --- */

static int add_place(struct rows *rows, uint32_t number)
{
	const struct code_place *place = &rows->places.list[number];
	uint32_t count = tally_code_places_nameless(&rows->places, place) ? 1 : place->line_count;
	uint32_t room = array_room(rows->room, rows->count + count, 256);

	if (room != rows->room && !array_resize(&rows->frames, room, sizeof(*rows->frames)))
		return -ENOMEM;
	rows->room = room;
	memcpy(&rows->frames[rows->count], &rows->elements[place->first_line],
	       count * sizeof(*rows->frames));
	rows->count += count;
	for (uint32_t i = 0; i < count; i++)
		rows->named += rows->has_name[place->first_line + i];
	return 0;
}

static int put_stack(struct rows *rows, uint32_t node, uint64_t id)
{
	struct code_position at = {.node = node};
	int result = 0;

	rows->count = rows->named = 0;
	while (at.node && !result)
		result = add_place(rows, code_places_next(&rows->places, &at));
	if (result)
		return result;
	return tally_parquet_row(rows->file->rows, (const uint64_t[STACK_COLUMNS]){id, rows->named},
				 rows->frames, rows->count);
}

/* All places of the stacks that have a number. */
static int find_places(struct rows *rows, const uint64_t *ids)
{
	uint32_t count = rows->stacks->node_count;

	for (uint32_t node = 1; node < count; node++) {
		if (node + 2 * AHEAD < count && ids[node + 2 * AHEAD])
			code_places_fetch(&rows->places, node + 2 * AHEAD);
		if (node + AHEAD < count && ids[node + AHEAD])
			code_places_fetch_caller(&rows->places, node + AHEAD);
		if (ids[node] && tally_code_places_add(&rows->places, node))
			return -ENOMEM;
	}
	return tally_code_places_find(&rows->places);
}

/* The elements of all places. */
static int make_elements(struct rows *rows)
{
	rows->elements = calloc(rows->places.line_count + 1ULL, sizeof(*rows->elements));
	rows->has_name = calloc(rows->places.line_count + 1ULL, sizeof(*rows->has_name));
	if (!rows->elements || !rows->has_name)
		return -ENOMEM;
	for (uint32_t i = 1; i < rows->places.count && !rows->failed; i++) {
		const struct code_place *place = &rows->places.list[i];

		if (tally_code_places_nameless(&rows->places, place))
			make_nameless(rows, place);
		else
			make_lines(rows, place);
	}
	return rows->text.failed ? rows->text.failed : rows->failed;
}

static int put_stacks(struct rows *rows, const uint64_t *ids)
{
	uint32_t count = rows->stacks->node_count;
	struct tally_map written = {0};
	int result = 0;

	for (uint32_t node = 1; node < count && !result; node++) {
		bool added = false;

		if (node + AHEAD < count && ids[node + AHEAD]) {
			map_fetch(&written, ids[node + AHEAD]);
			code_places_fetch(&rows->places, node + AHEAD);
		}
		/* Compiled code of two processes may have one number. */
		if (ids[node] && !tally_map_put(&written, ids[node], &added))
			result = -ENOMEM;
		if (added)
			result = put_stack(rows, node, ids[node]);
	}
	tally_map_done(&written);
	return result;
}

int tally_parquet_stacks_write(struct convert *convert, const struct stack_table *stacks,
			       const uint64_t *ids, struct parquet_file *file)
{
	struct rows rows = {.stacks = stacks, .file = file};
	int result = tally_code_places_init(&rows.places, convert, stacks);

	if (!result)
		result = find_places(&rows, ids);
	if (!result)
		result = make_elements(&rows);
	if (!result)
		result = put_stacks(&rows, ids);
	free(rows.elements);
	free(rows.has_name);
	free(rows.frames);
	free(rows.images);
	tally_buf_done(&rows.text);
	tally_code_places_done(&rows.places);
	return result;
}
