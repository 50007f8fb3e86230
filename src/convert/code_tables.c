#include "convert/code_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "session/numbers.h"

#define PAGE 4096U

int tally_code_tables_init(struct code_tables *tables, struct convert *convert,
			   const struct stack_table *stacks)
{
	int result;

	*tables = (struct code_tables){.function_count = 1, .mapping_count = 1};
	result = tally_code_places_init(&tables->places, convert, stacks);
	if (result)
		return result;
	tables->functions = calloc(1, sizeof(*tables->functions)); /* none */
	tables->function_room = 1;
	return tables->functions && tally_strings_intern(&tables->strings, "", 0) >= 0 ? 0
										       : -ENOMEM;
}

void tally_code_tables_done(struct code_tables *tables)
{
	tally_code_places_done(&tables->places);
	tally_strings_done(&tables->strings);
	tally_map_done(&tables->known);
	tally_buf_done(&tables->text);
	free(tables->functions);
	free(tables->mappings);
	free(tables->function_of);
	free(tables->mapping_of);
}

int64_t tally_code_tables_string(struct code_tables *tables, const char *text)
{
	return tally_strings_intern(&tables->strings, text, strlen(text));
}

/* The function of a name in a file, of its own for each file. */
static int add_function(struct code_tables *tables, const struct code_line *line, uint32_t *ret)
{
	const struct code_places *places = &tables->places;
	const struct tally_frame frame =
	    tally_session_frame(places->convert->session, places->stacks->frames[line->frame]);
	int64_t name, file;
	uint64_t *known;
	uint32_t room;
	bool added;

	*ret = 0;
	tally_buf_clear(&tables->text);
	if (!tally_convert_frame_name(&frame, &tables->text))
		return 0;
	name = tables->text.failed ? -ENOMEM
				   : tally_code_tables_string(tables, tally_buf_str(&tables->text));
	file = tally_code_tables_string(tables, line->file ? line->file : "");
	if (name < 0 || file < 0)
		return -ENOMEM;
	known = tally_map_put(&tables->known, (uint64_t)name << 32 | (uint64_t)file, &added);
	if (!known)
		return -ENOMEM;
	if (added) {
		room = array_room(tables->function_room, tables->function_count + 1, 1024);
		if (room != tables->function_room &&
		    !array_resize(&tables->functions, room, sizeof(*tables->functions)))
			return -ENOMEM;
		tables->function_room = room;
		tables->functions[tables->function_count] =
		    (struct code_function){(uint32_t)name, (uint32_t)file};
		*known = tables->function_count++;
	}
	*ret = (uint32_t)*known;
	return 0;
}

static int make_functions(struct code_tables *tables)
{
	const struct code_places *places = &tables->places;
	int result = 0;

	tables->function_of = calloc(places->line_count + 1ULL, sizeof(*tables->function_of));
	if (!tables->function_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < places->line_count && !result; i++)
		result = add_function(tables, &places->lines[i], &tables->function_of[i]);
	return result;
}

/* What a mapping is called.  0 or -ENOMEM. */
static int name_mapping(struct code_tables *tables, struct code_mapping *mapping)
{
	const struct tally_session *session = tables->places.convert->session;
	struct tally_image_facts facts;
	int64_t file, build_id = 0;

	if (!tally_session_image_facts(session, mapping->image, &facts))
		return 0;
	tally_buf_clear(&tables->text);
	for (unsigned i = 0; facts.build_id && i < facts.build_id_size; i++)
		tally_buf_printf(&tables->text, "%02x", facts.build_id[i]);
	file = tally_code_tables_string(tables, facts.path ? facts.path : "");
	if (tables->text.size && !tables->text.failed)
		build_id = tally_code_tables_string(tables, tally_buf_str(&tables->text));
	if (file < 0 || build_id < 0 || tables->text.failed)
		return -ENOMEM;
	mapping->file = (uint32_t)file;
	mapping->build_id = (uint32_t)build_id;
	return 0;
}

/* The images that places are in, by the first place of each. */
static int make_mappings(struct code_tables *tables)
{
	const struct code_places *places = &tables->places;
	uint32_t images = 0;
	int result = 0;

	for (uint32_t i = 1; i < places->count; i++)
		if (places->list[i].image >= images)
			images = places->list[i].image + 1;
	tables->mapping_of = calloc(images + 1ULL, sizeof(*tables->mapping_of));
	tables->mappings = calloc(images + 1ULL, sizeof(*tables->mappings));
	if (!tables->mapping_of || !tables->mappings)
		return -ENOMEM;
	for (uint32_t i = 1; i < places->count; i++) {
		const struct code_place *place = &places->list[i];
		uint64_t start = place->address / PAGE * PAGE, behind = place->address - start;
		uint64_t limit = start + PAGE < start ? UINT64_MAX : start + PAGE;
		uint64_t offset = place->place < behind ? 0 : place->place - behind;
		struct code_mapping *mapping;

		if (!tables->mapping_of[place->image]) {
			tables->mapping_of[place->image] = tables->mapping_count;
			tables->mappings[tables->mapping_count++] =
			    (struct code_mapping){.start = start,
						  .limit = limit,
						  .offset = offset,
						  .image = place->image};
		}
		mapping = &tables->mappings[tables->mapping_of[place->image]];
		if (start < mapping->start) {
			mapping->start = start;
			mapping->offset = offset;
		}
		if (limit > mapping->limit)
			mapping->limit = limit;
		mapping->has_inlines |= place->line_count > 1;
		for (uint32_t at = 0; at < place->line_count; at++) {
			mapping->has_functions |= tables->function_of[place->first_line + at] != 0;
			mapping->has_lines |= places->lines[place->first_line + at].line != 0;
		}
	}
	for (uint32_t i = 1; i < tables->mapping_count && !result; i++)
		result = name_mapping(tables, &tables->mappings[i]);
	return result;
}

/* Images that are not read, as [unknown], have no mapping. */
static void drop_unnamed(struct code_tables *tables)
{
	uint32_t to = 1;

	for (uint32_t i = 1; i < tables->mapping_count; i++) {
		const struct code_mapping *mapping = &tables->mappings[i];

		tables->mapping_of[mapping->image] = mapping->file ? to : 0;
		if (mapping->file)
			tables->mappings[to++] = *mapping;
	}
	tables->mapping_count = to;
}

int tally_code_tables_make(struct code_tables *tables)
{
	int result = tally_code_places_find(&tables->places);

	if (!result)
		result = make_functions(tables);
	if (!result)
		result = make_mappings(tables);
	if (!result)
		drop_unnamed(tables);
	return result;
}
