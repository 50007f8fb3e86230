#include "formats/parquet_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/table.h"
#include "resolve/frames.h"
#include "resolve/resolve_tables.h"
#include "session/numbers.h"

static const struct parquet_column columns[] = {{"stack_id", PARQUET_U64}};
enum {
	FRAME_BUILD_ID,
	FRAME_IMAGE,
	FRAME_OFFSET,
	FRAME_SYMBOL,
	FRAME_FILE,
	FRAME_LINE,
	FRAME_FIELDS
};
static const struct parquet_column fields[FRAME_FIELDS] = {
    {"build_id", PARQUET_TEXT}, {"image", PARQUET_TEXT}, {"offset", PARQUET_U64},
    {"symbol", PARQUET_TEXT},   {"file", PARQUET_TEXT},  {"line", PARQUET_I32},
};
const struct parquet_table tally_parquet_stacks_table = {
    .columns = columns,
    .column_count = 1,
    .list = "frames",
    .fields = fields,
    .field_count = FRAME_FIELDS,
};

int tally_parquet_stacks_init(struct parquet_stacks *parquet, struct convert *convert,
			      const struct stack_table *stacks)
{
	int result = tally_code_places_init(&parquet->places, convert, stacks);

	parquet->stacks = stacks;
	parquet->ids = calloc(stacks->node_count * 2ULL, sizeof(*parquet->ids));
	parquet->sampled = calloc(stacks->node_count, sizeof(*parquet->sampled));
	return parquet->ids && parquet->sampled ? result : -ENOMEM;
}

void tally_parquet_stacks_done(struct parquet_stacks *parquet)
{
	tally_code_places_done(&parquet->places);
	free(parquet->ids);
	free(parquet->image_ids);
	free(parquet->path);
	free(parquet->positions);
	free(parquet->sampled);
	*parquet = (struct parquet_stacks){0};
}

static const struct tally_frames *frames_of(const struct parquet_stacks *parquet)
{
	return &tally_session_tables(parquet->places.convert->session)->frames;
}

/* What an image is known by: its build-id, else its name. */
static uint64_t make_image_id(const struct parquet_stacks *parquet, uint32_t image)
{
	const struct tally_session *session = parquet->places.convert->session;
	const char *name = tally_frames_image_at(frames_of(parquet), image)->name;
	struct tally_image_facts facts;
	uint64_t id;

	if (tally_session_image_facts(session, image, &facts) && facts.build_id_size)
		id = tally_hash_bytes(facts.build_id, facts.build_id_size);
	else /* "[JIT] tid 17" and the like are one name on all hosts */
		id = tally_hash_bytes(name, name[0] == '[' ? strcspn(name, " ") : strlen(name));
	return id ? id : 1;
}

static int image_id(struct parquet_stacks *parquet, uint32_t image, uint64_t *ret)
{
	if (!array_reach(&parquet->image_ids, &parquet->image_room, image, 64,
			 sizeof(*parquet->image_ids)))
		return -ENOMEM;
	if (!parquet->image_ids[image])
		parquet->image_ids[image] = make_image_id(parquet, image);
	*ret = parquet->image_ids[image];
	return 0;
}

static uint32_t frame_of(const struct parquet_stacks *parquet, const struct code_place *place,
			 uint32_t line)
{
	return parquet->stacks->frames[parquet->places.lines[place->first_line + line].frame];
}

/* Places that are addresses differ by host and process; a symbol and the place within it do not. */
static int place_id(struct parquet_stacks *parquet, const struct code_place *place, uint64_t *ret)
{
	uint32_t outer = frame_of(parquet, place, place->line_count - 1);
	const struct tally_frame frame =
	    tally_session_frame(parquet->places.convert->session, outer);
	uint64_t start, end, where = place->place;
	int result = image_id(parquet, place->image, ret);

	if (result)
		return result;
	if (tally_frames_image_at(frames_of(parquet), place->image)->places_are_addresses) {
		if (frame.symbol)
			*ret = hash_mix(*ret, tally_hash_bytes(frame.symbol, strlen(frame.symbol)));
		where = tally_frames_symbol(frames_of(parquet), outer, &start, &end) ? where - start
										     : 0;
	}
	*ret = hash_mix(*ret, where << 1 | place->call);
	return 0;
}

static bool path_room(struct parquet_stacks *parquet, uint32_t depth)
{
	uint32_t room = array_room(parquet->path_room, depth, 256);

	if (room == parquet->path_room)
		return true;
	if (!array_resize(&parquet->path, room, sizeof(*parquet->path)) ||
	    !array_resize(&parquet->positions, room, sizeof(*parquet->positions)))
		return false;
	parquet->path_room = room;
	return true;
}

/* The places from a position outwards, innermost first; `unknown`: those without a number. */
static int walk(struct parquet_stacks *parquet, struct code_position at, bool unknown)
{
	parquet->outer = 0;
	for (parquet->depth = 0; at.node; parquet->depth++) {
		if (unknown) {
			parquet->outer = parquet->ids[at.node * 2ULL + at.call];
			if (parquet->outer)
				return 0;
		}
		if (!path_room(parquet, parquet->depth + 1))
			return -ENOMEM;
		parquet->positions[parquet->depth] = at;
		parquet->path[parquet->depth] = tally_code_places_walk(&parquet->places, &at);
		if (!parquet->path[parquet->depth])
			return -ENOMEM;
	}
	return 0;
}

/* The number of the stack that is from a position outwards: of the caller's and of its own place.
 * `path` has what is to be numbered, innermost first. */
static int number_path(struct parquet_stacks *parquet, uint64_t id)
{
	int result = 0;

	while (parquet->depth-- && !result) {
		const struct code_position *at = &parquet->positions[parquet->depth];
		uint64_t part;

		result =
		    place_id(parquet, &parquet->places.list[parquet->path[parquet->depth]], &part);
		if (!result) {
			id = hash_mix(id, part);
			parquet->ids[at->node * 2ULL + at->call] = id = id ? id : 1;
		}
	}
	return result;
}

int tally_parquet_stack_id(struct parquet_stacks *parquet, uint32_t node, uint64_t *ret)
{
	const struct code_position at = {.node = node};
	int result = 0;

	if (node && !parquet->ids[node * 2ULL]) {
		result = walk(parquet, at, true);
		if (!result)
			result = number_path(parquet, parquet->outer);
	}
	if (result)
		return result;
	parquet->sampled[node] = true;
	*ret = parquet->ids[node * 2ULL];
	return 0;
}

/* --- the table --- */

struct rows {
	struct parquet_stacks *parquet;
	struct parquet_file *file;
	uint64_t *frames;
	uint32_t room, count;
	uint64_t *build_ids; /* by image of the session: the text's number and 1; 0: not met */
	uint32_t build_id_room;
	struct tally_buf text;
	int failed;
};

static uint64_t text_of(struct rows *rows, const char *text)
{
	return tally_parquet_file_text(rows->file, text, &rows->failed);
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
	if (tally_session_image_facts(rows->parquet->places.convert->session, image, &facts))
		for (unsigned i = 0; facts.build_id && i < facts.build_id_size; i++)
			tally_buf_printf(&rows->text, "%02x", facts.build_id[i]);
	rows->build_ids[image] = text_of(rows, tally_buf_str(&rows->text)) + 1;
	return rows->build_ids[image] - 1;
}

static int add_place(struct rows *rows, const struct code_place *place)
{
	const struct tally_session *session = rows->parquet->places.convert->session;
	const struct code_line *lines = &rows->parquet->places.lines[place->first_line];
	uint64_t build_id = build_id_of(rows, place->image);
	uint32_t room = array_room(rows->room, rows->count + place->line_count, 256);

	if (room != rows->room &&
	    !array_resize(&rows->frames, room, FRAME_FIELDS * sizeof(*rows->frames)))
		return -ENOMEM;
	rows->room = room;
	for (uint32_t i = 0; i < place->line_count; i++) {
		const struct tally_frame frame =
		    tally_session_frame(session, frame_of(rows->parquet, place, i));
		uint64_t *to = &rows->frames[(size_t)rows->count++ * FRAME_FIELDS];

		tally_buf_clear(&rows->text);
		tally_convert_frame_name(&frame, &rows->text);
		to[FRAME_BUILD_ID] = build_id;
		to[FRAME_IMAGE] = text_of(rows, frame.image_path ? frame.image_path : "");
		to[FRAME_OFFSET] = place->place;
		to[FRAME_SYMBOL] = text_of(rows, tally_buf_str(&rows->text));
		to[FRAME_FILE] = text_of(rows, lines[i].file ? lines[i].file : "");
		to[FRAME_LINE] = lines[i].line;
	}
	return rows->text.failed ? rows->text.failed : rows->failed;
}

int tally_parquet_stacks_write(struct parquet_stacks *parquet, struct parquet_file *file)
{
	struct rows rows = {.parquet = parquet, .file = file};
	struct tally_map written = {0};
	int result = tally_code_places_find(&parquet->places);

	for (uint32_t node = 1; node < parquet->stacks->node_count && !result; node++) {
		const uint64_t *id = &parquet->ids[node * 2ULL];
		bool added = false;

		if (!parquet->sampled[node])
			continue;
		/* Compiled code of two processes may have one number. */
		if (!tally_map_put(&written, *id, &added))
			result = -ENOMEM;
		if (!added)
			continue;
		result = walk(parquet, (struct code_position){.node = node}, false);
		rows.count = 0;
		for (uint32_t i = 0; i < parquet->depth && !result; i++)
			result = add_place(&rows, &parquet->places.list[parquet->path[i]]);
		if (!result)
			result = tally_parquet_row(file->writer, id, rows.frames, rows.count);
	}
	tally_map_done(&written);
	free(rows.frames);
	free(rows.build_ids);
	tally_buf_done(&rows.text);
	return result;
}
