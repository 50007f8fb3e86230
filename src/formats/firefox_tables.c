#include "formats/firefox_tables.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "session/numbers.h"

#define LIBRARY 1 /* a resource's type */

int tally_firefox_tables_init(struct firefox_tables *tables, struct convert *convert,
			      const struct stack_table *stacks)
{
	int result;

	*tables = (struct firefox_tables){.convert = convert};
	result = tally_code_tables_init(&tables->code, convert, stacks);
	tables->row_of = calloc(stacks->node_count * 2ULL + 1, sizeof(*tables->row_of));
	return result ? result : tables->row_of ? 0 : -ENOMEM;
}

void tally_firefox_tables_done(struct firefox_tables *tables)
{
	tally_code_tables_done(&tables->code);
	free(tables->stacks);
	free(tables->row_of);
	free(tables->place_of);
	free(tables->path);
	*tables = (struct firefox_tables){.convert = tables->convert};
}

int64_t tally_firefox_tables_string(struct firefox_tables *tables, const char *text)
{
	return tally_code_tables_string(&tables->code, text);
}

static int add_step(struct firefox_tables *tables, uint32_t count, uint32_t node, uint32_t line,
		    bool call)
{
	uint32_t room = array_room(tables->path_room, count + 1, 256);

	if (room != tables->path_room && !array_resize(&tables->path, room, sizeof(*tables->path)))
		return -ENOMEM;
	tables->path_room = room;
	tables->path[count] = (struct firefox_step){node, line, call};
	return 0;
}

static int add_stack(struct firefox_tables *tables, uint32_t prefix, uint32_t line)
{
	uint32_t room = array_room(tables->stack_room, tables->stack_count + 1, 1024);

	if (room != tables->stack_room &&
	    !array_resize(&tables->stacks, room, sizeof(*tables->stacks)))
		return -ENOMEM;
	tables->stack_room = room;
	tables->stacks[tables->stack_count++] = (struct firefox_stack){prefix, line};
	return 0;
}

int64_t tally_firefox_tables_stack(struct firefox_tables *tables, uint32_t node)
{
	struct code_places *places = &tables->code.places;
	struct code_position at = {.node = node};
	uint32_t count = 0, prefix = 0;

	/* From the end to a row that is known. */
	while (at.node && !tables->row_of[at.node * 2ULL + at.call]) {
		struct code_position here = at;
		uint32_t number = tally_code_places_walk(places, &at);

		if (!number)
			return -ENOMEM;
		for (uint32_t i = 0; i < places->list[number].line_count; i++) {
			if (add_step(tables, count++, here.node,
				     places->list[number].first_line + i, here.call))
				return -ENOMEM;
			here.node = places->stacks->nodes[here.node].caller;
		}
	}
	if (at.node)
		prefix = tables->row_of[at.node * 2ULL + at.call];
	while (count) {
		const struct firefox_step *step = &tables->path[--count];
		uint32_t *row = &tables->row_of[step->node * 2ULL + step->call];

		/* Its place may have begun elsewhere before. */
		if (!*row) {
			if (add_stack(tables, prefix, step->line))
				return -ENOMEM;
			*row = tables->stack_count;
		}
		prefix = *row;
	}
	return prefix;
}

/* --- columns --- */

/* A column of `count` numbers; below 0: null, or -1 with `minus`. */
typedef int64_t (*column_fn)(const struct firefox_tables *tables, uint32_t row);

static int put_column(const struct firefox_tables *tables, struct json *json, const char *name,
		      uint32_t count, bool minus, column_fn value)
{
	int result = 0;

	json_key(json, name);
	json_array(json);
	for (uint32_t i = 0; i < count && !result; i++) {
		int64_t number = value(tables, i);

		if (number < 0 && !minus)
			json_null(json);
		else
			json_i64(json, number);
		if (i % 256 == 0)
			result = convert_pour(tables->convert);
	}
	json_array_end(json);
	return result;
}

static int64_t null_value(const struct firefox_tables *tables, uint32_t row)
{
	(void)tables;
	(void)row;
	return -1;
}

static int64_t zero_value(const struct firefox_tables *tables, uint32_t row)
{
	(void)tables;
	(void)row;
	return 0;
}

static int64_t one_value(const struct firefox_tables *tables, uint32_t row)
{
	(void)tables;
	(void)row;
	return 1;
}

static void put_false(struct json *json, const char *name, uint32_t count)
{
	json_key(json, name);
	json_array(json);
	for (uint32_t i = 0; i < count; i++)
		json_bool(json, false);
	json_array_end(json);
}

/* --- libs --- */

/* Breakpad's id of a build-id: a GUID whose first three parts are little-endian numbers, and a 0.
 */
static void put_breakpad_id(struct json *json, const char *build_id)
{
	static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	char id[34];
	size_t length = strlen(build_id);

	memset(id, '0', 33);
	id[33] = 0;
	for (size_t i = 0; i < 16; i++)
		for (size_t digit = 0; digit < 2; digit++)
			if (order[i] * 2U + digit < length)
				id[i * 2 + digit] =
				    (char)toupper((unsigned char)build_id[order[i] * 2 + digit]);
	json_key_string(json, "breakpadId", length ? id : "");
}

static void put_libs(const struct firefox_tables *tables, struct json *json)
{
	const struct code_tables *code = &tables->code;
	const char *arch = tally_data_info(tables->convert->data)->arch;

	json_key(json, "libs");
	json_array(json);
	for (uint32_t i = 1; i < code->mapping_count; i++) {
		const char *path = code->strings.text[code->mappings[i].file];
		const char *build_id = code->strings.text[code->mappings[i].build_id];
		const char *base = strrchr(path, '/');

		base = base && base[1] ? base + 1 : path;
		json_object(json);
		json_key_string(json, "arch", arch ? arch : "");
		json_key_string(json, "name", base);
		json_key_string(json, "path", path);
		json_key_string(json, "debugName", base);
		json_key_string(json, "debugPath", path);
		put_breakpad_id(json, build_id);
		json_key_string(json, "codeId", *build_id ? build_id : NULL);
		json_object_end(json);
	}
	json_array_end(json);
}

/* --- stacks and frames: a frame is a line of a place --- */

static int64_t stack_frame(const struct firefox_tables *tables, uint32_t row)
{
	return tables->stacks[row].line;
}

static int64_t stack_prefix(const struct firefox_tables *tables, uint32_t row)
{
	return (int64_t)tables->stacks[row].prefix - 1;
}

static const struct code_place *place_of(const struct firefox_tables *tables, uint32_t row)
{
	return &tables->code.places.list[tables->place_of[row]];
}

static int64_t mapping_of(const struct firefox_tables *tables, uint32_t row)
{
	return (int64_t)tables->code.mapping_of[place_of(tables, row)->image] - 1;
}

/* Numbers of JSON are exact up to 2^53; the kernel's addresses are not of a file. */
static int64_t frame_address(const struct firefox_tables *tables, uint32_t row)
{
	uint64_t address = place_of(tables, row)->address;

	return mapping_of(tables, row) < 0 || address >> 53 ? -1 : (int64_t)address;
}

static int64_t frame_inline_depth(const struct firefox_tables *tables, uint32_t row)
{
	const struct code_place *place = place_of(tables, row);

	return (int64_t)place->first_line + place->line_count - 1 - row;
}

static struct tally_frame facts_of(const struct firefox_tables *tables, uint32_t row)
{
	const struct code_places *places = &tables->code.places;

	return tally_session_frame(tables->convert->session,
				   places->stacks->frames[places->lines[row].frame]);
}

static int64_t frame_category(const struct firefox_tables *tables, uint32_t row)
{
	char level = facts_of(tables, row).level;

	return level == '.' ? FIREFOX_USER : level == 'k' ? FIREFOX_KERNEL : FIREFOX_OTHER;
}

static int64_t frame_line(const struct firefox_tables *tables, uint32_t row)
{
	uint32_t line = tables->code.places.lines[row].line;

	return line ? (int64_t)line : -1;
}

/* A function is what frames of one name, file and binary are in. */
struct functions {
	struct tally_map known;
	uint32_t *of; /* by frame */
	struct function {
		uint32_t name, file; /* strings; file 0: unknown */
		int64_t mapping;     /* below 0: none */
	} * list;
	uint32_t count, room;
};

static int find_function(struct firefox_tables *tables, struct functions *functions, uint32_t row)
{
	uint32_t number = tables->code.function_of[row], room;
	struct function function = {.mapping = mapping_of(tables, row)};
	struct tally_buf label = {0};
	uint64_t *known;
	bool added;

	function.name = tables->code.functions[number].name;
	function.file = tables->code.functions[number].file;
	if (!number) {
		const struct tally_frame facts = facts_of(tables, row);
		int64_t name;

		tally_convert_frame_label(&facts, &label);
		name = label.failed ? label.failed
				    : tally_firefox_tables_string(tables, tally_buf_str(&label));
		tally_buf_done(&label);
		if (name < 0)
			return -ENOMEM;
		function.name = (uint32_t)name;
		function.file = 0;
	}
	known = tally_map_put(&functions->known,
			      hash_mix(hash_u64((uint64_t)function.name << 32 | function.file),
				       (uint64_t)function.mapping),
			      &added);
	if (!known)
		return -ENOMEM;
	if (added) {
		room = array_room(functions->room, functions->count + 1, 256);
		if (room != functions->room &&
		    !array_resize(&functions->list, room, sizeof(*functions->list)))
			return -ENOMEM;
		functions->room = room;
		functions->list[functions->count] = function;
		*known = functions->count++;
	}
	functions->of[row] = (uint32_t)*known;
	return 0;
}

static int find_functions(struct firefox_tables *tables, struct functions *functions)
{
	uint32_t count = tables->code.places.line_count;
	int result = 0;

	functions->of = calloc(count + 1ULL, sizeof(*functions->of));
	if (!functions->of)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && !result; i++)
		result = find_function(tables, functions, i);
	return result;
}

static int put_stacks(const struct firefox_tables *tables, struct json *json)
{
	uint32_t count = tables->stack_count;
	int result;

	json_key(json, "stackTable");
	json_object(json);
	result = put_column(tables, json, "frame", count, false, stack_frame);
	if (!result)
		result = put_column(tables, json, "prefix", count, false, stack_prefix);
	json_key_u64(json, "length", count);
	json_object_end(json);
	return result;
}

static int put_frames(const struct firefox_tables *tables, const struct functions *functions,
		      struct json *json)
{
	static const struct {
		const char *name;
		column_fn value;
		bool minus;
	} columns[] = {
	    {"address", frame_address, true},    {"inlineDepth", frame_inline_depth, false},
	    {"category", frame_category, false}, {"subcategory", zero_value, false},
	    {"nativeSymbol", null_value, false}, {"innerWindowID", null_value, false},
	    {"line", frame_line, false},         {"column", null_value, false},
	};
	uint32_t count = tables->code.places.line_count;
	int result = 0;

	json_key(json, "frameTable");
	json_object(json);
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns) && !result; i++)
		result = put_column(tables, json, columns[i].name, count, columns[i].minus,
				    columns[i].value);
	json_key(json, "func");
	json_array(json);
	for (uint32_t i = 0; i < count && !result; i++) {
		json_u64(json, functions->of[i]);
		result = convert_pour(tables->convert);
	}
	json_array_end(json);
	json_key_u64(json, "length", count);
	json_object_end(json);
	return result;
}

/* Sources are the functions' files, each once: source_of[] by string, + 1. */
static int put_functions(const struct firefox_tables *tables, const struct functions *functions,
			 const uint32_t *source_of, struct json *json)
{
	int result = 0;

	json_key(json, "funcTable");
	json_object(json);
	json_key(json, "name");
	json_array(json);
	for (uint32_t i = 0; i < functions->count; i++)
		json_u64(json, functions->list[i].name);
	json_array_end(json);
	put_false(json, "isJS", functions->count);
	put_false(json, "relevantForJS", functions->count);
	json_key(json, "resource"); /* one for each of the libs */
	json_array(json);
	for (uint32_t i = 0; i < functions->count; i++)
		json_i64(json, functions->list[i].mapping);
	json_array_end(json);
	json_key(json, "source");
	json_array(json);
	for (uint32_t i = 0; i < functions->count; i++)
		if (functions->list[i].file)
			json_u64(json, source_of[functions->list[i].file] - 1);
		else
			json_null(json);
	json_array_end(json);
	result = put_column(tables, json, "lineNumber", functions->count, false, null_value);
	if (!result)
		result =
		    put_column(tables, json, "columnNumber", functions->count, false, null_value);
	json_key_u64(json, "length", functions->count);
	json_object_end(json);
	return result;
}

static int put_sources(const struct firefox_tables *tables, const struct functions *functions,
		       uint32_t *source_of, struct json *json)
{
	uint32_t count = 0;
	int result;

	json_key(json, "sources");
	json_object(json);
	json_key(json, "filename");
	json_array(json);
	for (uint32_t i = 0; i < functions->count; i++) {
		uint32_t file = functions->list[i].file;

		if (!file || source_of[file])
			continue;
		source_of[file] = ++count;
		json_u64(json, file);
	}
	json_array_end(json);
	result = put_column(tables, json, "id", count, false, null_value);
	if (!result)
		result = put_column(tables, json, "startLine", count, false, one_value);
	if (!result)
		result = put_column(tables, json, "startColumn", count, false, one_value);
	if (!result)
		result = put_column(tables, json, "sourceMapURL", count, false, null_value);
	json_key_u64(json, "length", count);
	json_object_end(json);
	return result;
}

static int64_t library_type(const struct firefox_tables *tables, uint32_t row)
{
	(void)tables;
	(void)row;
	return LIBRARY;
}

static int64_t own_number(const struct firefox_tables *tables, uint32_t row)
{
	(void)tables;
	return row;
}

static int64_t mapping_name(const struct firefox_tables *tables, uint32_t row)
{
	return tables->code.mappings[row + 1].file;
}

static int put_resources(const struct firefox_tables *tables, struct json *json)
{
	uint32_t count = tables->code.mapping_count - 1;
	int result;

	json_key(json, "resourceTable");
	json_object(json);
	result = put_column(tables, json, "lib", count, false, own_number);
	if (!result)
		result = put_column(tables, json, "name", count, false, mapping_name);
	if (!result)
		result = put_column(tables, json, "host", count, false, null_value);
	if (!result)
		result = put_column(tables, json, "type", count, false, library_type);
	json_key_u64(json, "length", count);
	json_object_end(json);
	return result;
}

/* There are none: functions have their names. */
static void put_native_symbols(struct json *json)
{
	static const char *const columns[] = {"libIndex", "address", "name", "functionSize"};

	json_key(json, "nativeSymbols");
	json_object(json);
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		json_key(json, columns[i]);
		json_array(json);
		json_array_end(json);
	}
	json_key_u64(json, "length", 0);
	json_object_end(json);
}

static int put_strings(const struct firefox_tables *tables, struct json *json)
{
	const struct tally_strings *strings = &tables->code.strings;
	int result = 0;

	json_key(json, "stringArray");
	json_array(json);
	for (size_t i = 0; i < strings->count && !result; i++) {
		json_string(json, strings->text[i], strings->length[i]);
		result = convert_pour(tables->convert);
	}
	json_array_end(json);
	return result;
}

static int put_shared(struct firefox_tables *tables, struct functions *functions, struct json *json)
{
	uint32_t *source_of = calloc(tables->code.strings.count + 1, sizeof(*source_of));
	int result = source_of ? 0 : -ENOMEM;

	json_key(json, "shared");
	json_object(json);
	if (!result)
		result = put_stacks(tables, json);
	if (!result)
		result = put_frames(tables, functions, json);
	if (!result)
		result = put_sources(tables, functions, source_of, json);
	if (!result)
		result = put_functions(tables, functions, source_of, json);
	if (!result)
		result = put_resources(tables, json);
	put_native_symbols(json);
	if (!result)
		result = put_strings(tables, json);
	json_object_end(json);
	free(source_of);
	return result;
}

int tally_firefox_tables_write(struct firefox_tables *tables, struct json *json)
{
	const struct code_places *places = &tables->code.places;
	struct functions functions = {.count = 0};
	int result = tally_code_tables_make(&tables->code);

	tables->place_of = calloc(places->line_count + 1ULL, sizeof(*tables->place_of));
	if (!result && !tables->place_of)
		result = -ENOMEM;
	for (uint32_t i = 1; i < places->count && !result; i++)
		for (uint32_t at = 0; at < places->list[i].line_count; at++)
			tables->place_of[places->list[i].first_line + at] = i;
	if (!result)
		result = find_functions(tables, &functions);
	if (!result) {
		put_libs(tables, json);
		result = put_shared(tables, &functions, json);
	}
	tally_map_done(&functions.known);
	free(functions.of);
	free(functions.list);
	return result;
}
