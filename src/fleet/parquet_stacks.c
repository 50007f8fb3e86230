#include "fleet/parquet_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/table.h"
#include "convert/code_places.h"
#include "fleet/fleet_base.h"
#include "session/numbers.h"

static const struct parquet_column columns[] = {{"stack_id", PARQUET_U64}};
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
    .column_count = 1,
    .list = "frames",
    .fields = fields,
    .field_count = FRAME_FIELDS,
};

struct rows {
	const struct stack_table *stacks;
	struct code_places places;
	struct parquet_file *file;
	uint32_t *frames; /* of a stack: elements of the table's list */
	uint32_t room, count;
	uint64_t *build_ids; /* by image of the session: the text's number and 1; 0: not met */
	uint32_t build_id_room;
	uint32_t *elements; /* by line of the places */
	char *known;        /* by place: its lines have theirs */
	struct tally_buf text;
	int failed;
};

static uint64_t text_of(struct rows *rows, const char *text)
{
	return tally_parquet_file_text(rows->file->rows, text, &rows->failed);
}

static uint64_t build_id_of(struct rows *rows, uint32_t image)
{
	struct tally_image_facts facts;

	if (!array_reach(&rows->build_ids, &rows->build_id_room, image, 64,
			 sizeof(*rows->build_ids))) {
		rows->failed = -ENOMEM;
		return 0;
	}
	if (rows->build_ids[image])
		return rows->build_ids[image] - 1;
	tally_buf_clear(&rows->text);
	if (tally_session_image_facts(rows->places.convert->session, image, &facts))
		for (unsigned i = 0; facts.build_id && i < facts.build_id_size; i++)
			tally_buf_printf(&rows->text, "%02x", facts.build_id[i]);
	rows->build_ids[image] = text_of(rows, tally_buf_str(&rows->text)) + 1;
	return rows->build_ids[image] - 1;
}

static void make_element(struct rows *rows, size_t line, const uint64_t *values)
{
	int64_t number = tally_parquet_element(rows->file->rows, values);

	if (number < 0)
		rows->failed = (int)number;
	rows->elements[line] = (uint32_t)number;
}

/* A place whose functions are left out: one frame. */
static void find_nameless(struct rows *rows, const struct code_place *place)
{
	const struct code_line *line = &rows->places.lines[place->first_line];
	const struct tally_frame frame =
	    tally_session_frame(rows->places.convert->session, rows->stacks->frames[line->frame]);
	uint64_t to[FRAME_FIELDS];

	to[FRAME_BUILD_ID] = build_id_of(rows, place->image);
	to[FRAME_IMAGE] = text_of(rows, frame.image_path ? frame.image_path : "");
	to[FRAME_OFFSET] = place->place;
	to[FRAME_SYMBOL] = to[FRAME_FILE] = text_of(rows, "");
	to[FRAME_LINE] = 0;
	to[FRAME_START] = 0;
	make_element(rows, place->first_line, to);
}

/* The lines of a place. */
static void find_lines(struct rows *rows, const struct code_place *place)
{
	struct tally_session *session = rows->places.convert->session;
	uint64_t build_id = build_id_of(rows, place->image);
	struct fleet_base base = tally_fleet_base(session, place->image);

	for (uint32_t i = 0; i < place->line_count; i++) {
		const struct code_line *line = &rows->places.lines[place->first_line + i];
		const uint32_t number = rows->stacks->frames[line->frame];
		const struct tally_frame frame = tally_session_frame(session, number);
		uint64_t to[FRAME_FIELDS];

		tally_buf_clear(&rows->text);
		tally_convert_frame_name(&frame, &rows->text);
		to[FRAME_BUILD_ID] = build_id;
		to[FRAME_IMAGE] = text_of(rows, frame.image_path ? frame.image_path : "");
		to[FRAME_OFFSET] = place->place - base.base;
		to[FRAME_SYMBOL] = text_of(rows, tally_buf_str(&rows->text));
		to[FRAME_FILE] = text_of(rows, line->file ? line->file : "");
		to[FRAME_LINE] = line->line;
		to[FRAME_START] = tally_fleet_start(session, number);
		make_element(rows, place->first_line + (size_t)i, to);
	}
}

static int add_place(struct rows *rows, uint32_t number)
{
	const struct code_place *place = &rows->places.list[number];
	bool nameless = tally_code_places_nameless(&rows->places, place);
	uint32_t count = nameless ? 1 : place->line_count;
	uint32_t room = array_room(rows->room, rows->count + count, 256);

	if (room != rows->room && !array_resize(&rows->frames, room, sizeof(*rows->frames)))
		return -ENOMEM;
	rows->room = room;
	if (!rows->known[number] && nameless)
		find_nameless(rows, place);
	else if (!rows->known[number])
		find_lines(rows, place);
	rows->known[number] = 1;
	memcpy(&rows->frames[rows->count], &rows->elements[place->first_line],
	       count * sizeof(*rows->frames));
	rows->count += count;
	return rows->text.failed ? rows->text.failed : rows->failed;
}

static int put_stack(struct rows *rows, uint32_t node, uint64_t id)
{
	struct code_position at = {.node = node};
	int result = 0;

	rows->count = 0;
	while (at.node && !result)
		result = add_place(rows, code_places_next(&rows->places, &at));
	return result ? result
		      : tally_parquet_row(rows->file->rows, &id, rows->frames, rows->count);
}

/* All places, before their lines are looked up by many threads. */
static int find_places(struct rows *rows, const uint64_t *ids)
{
	uint32_t count = rows->stacks->node_count;

	for (uint32_t node = 1; node < count; node++)
		if (ids[node] && tally_code_places_add(&rows->places, node))
			return -ENOMEM;
	rows->elements = calloc(rows->places.line_count + 1ULL, sizeof(*rows->elements));
	rows->known = calloc(rows->places.count + 1ULL, 1);
	return rows->elements && rows->known ? tally_code_places_find(&rows->places) : -ENOMEM;
}

static int put_stacks(struct rows *rows, const uint64_t *ids)
{
	struct tally_map written = {0};
	int result = find_places(rows, ids);

	for (uint32_t node = 1; node < rows->stacks->node_count && !result; node++) {
		bool added = false;

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
	uint64_t *by_node = calloc(stacks->node_count, sizeof(*by_node));
	int result = tally_code_places_init(&rows.places, convert, stacks);

	if (!by_node)
		result = -ENOMEM;
	for (uint32_t i = 0; i < stacks->leaf_count && !result; i++)
		by_node[tally_stack_table_node(stacks, i)] = ids[i];
	if (!result)
		result = put_stacks(&rows, by_node);
	free(by_node);
	free(rows.elements);
	free(rows.known);
	free(rows.frames);
	free(rows.build_ids);
	tally_buf_done(&rows.text);
	tally_code_places_done(&rows.places);
	return result;
}
