/* The tables of functions and images.  A function is what a row of a report is: frames of one place
 * (profile/places.h) are one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "page/page_tables.h"
#include "report/report_frame.h"
#include "session/across.h"
#include "session/numbers.h"

/* Chains that were followed where there are no frame pointers have any number of addresses that are
 * no code.  A list of so many helps nobody, and nearly each of them makes a stack of its own. */
#define NAMELESS_MOST 16384U

static bool is_nameless(const struct tally_frame *frame)
{
	return !frame->symbol && !frame->function;
}

void tally_page_functions_plan(struct page_tables *tables, const struct page_source *sources,
			       size_t count)
{
	uint32_t nameless = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t frames = tally_session_frame_count(sources[i].session);

		for (uint32_t frame = 1; frame < frames; frame++) {
			struct tally_frame facts = tally_session_frame(sources[i].session, frame);

			nameless += is_nameless(&facts);
		}
	}
	tables->nameless_count = nameless > NAMELESS_MOST ? nameless : 0;
}

/* Whether all such addresses of an image are one function: where there are too many, and those of
 * code that was made at run time, in which nothing says where functions begin, so that each
 * instruction would have stacks of its own. */
static bool is_one_of_many(const struct page_functions *functions, uint32_t place)
{
	struct tally_frame facts = tally_session_frame(functions->session, place);

	return (is_nameless(&facts) && functions->tables->nameless_count) ||
	       tally_session_is_made_nameless(functions->session, &facts);
}

int tally_page_functions_init(struct page_functions *functions, struct page_tables *tables,
			      const struct page_source *source)
{
	int result;

	*functions = (struct page_functions){
	    .tables = tables, .session = source->session, .source = source->number};
	result = tally_places_init(&functions->places, source->session);
	if (result)
		return result;
	functions->of_frame =
	    table_new((size_t)functions->places.frame_count + 1, sizeof(*functions->of_frame));
	functions->of_dso = table_new(functions->places.dsos.count + 1, sizeof(*functions->of_dso));
	functions->shared =
	    table_new((size_t)functions->places.frame_count + 1, sizeof(*functions->shared));
	if (!functions->of_frame || !functions->of_dso || !functions->shared)
		return -ENOMEM;
	for (uint32_t frame = 1; frame < functions->places.frame_count; frame++) {
		uint32_t place = functions->places.place_of[frame];

		if (place != frame || is_one_of_many(functions, place))
			functions->shared[place] = true;
	}
	return 0;
}

void tally_page_functions_done(struct page_functions *functions)
{
	tally_places_done(&functions->places);
	free(functions->of_frame);
	free(functions->of_dso);
	free(functions->shared);
	*functions = (struct page_functions){0};
}

static enum page_kind kind_of(const struct page_functions *functions,
			      const struct tally_frame *frame)
{
	if (frame->level == 'k' || frame->level == 'g')
		return PAGE_KIND_KERNEL;
	if (frame->image == UINT32_MAX)
		return PAGE_KIND_UNKNOWN;
	return tally_session_image_is_made(functions->session, frame->image) ? PAGE_KIND_MADE
									     : PAGE_KIND_USER;
}

static int64_t build_id_of(const struct page_functions *functions, uint32_t image)
{
	struct tally_image_facts facts = {0};
	char text[2 * UINT8_MAX + 1] = "";

	if (!tally_session_image_facts(functions->session, image, &facts))
		return 0;
	for (unsigned i = 0; i < facts.build_id_size; i++) {
		text[2 * i] = "0123456789abcdef"[facts.build_id[i] >> 4];
		text[2 * i + 1] = "0123456789abcdef"[facts.build_id[i] & 15];
	}
	return tally_page_string(functions->tables, text);
}

static int64_t image_of(struct page_functions *functions, const struct tally_frame *frame,
			uint32_t dso)
{
	struct page_tables *tables = functions->tables;
	int64_t name, path, build_id;
	const char *text;
	uint64_t *known = NULL;
	uint32_t room;
	bool added;

	if (functions->of_dso[dso])
		return functions->of_dso[dso] - 1;
	text = functions->places.dsos.text[dso];
	if (tables->several)
		text = tally_session_image_across(functions->session, frame->image, text);
	name = tally_page_string(tables, text);
	if (tables->several && name >= 0) {
		known = tally_map_put(&tables->known_images, (uint64_t)name, &added);
		if (!known)
			return -ENOMEM;
		if (*known) {
			functions->of_dso[dso] = (uint32_t)*known;
			return functions->of_dso[dso] - 1;
		}
	}
	path = tally_page_string(tables, frame->image_path);
	build_id = build_id_of(functions, frame->image);
	room = array_room(tables->image_room, tables->image_count + 1, 64);
	if (name < 0 || path < 0 || build_id < 0 ||
	    (room != tables->image_room &&
	     !array_resize(&tables->images, room, sizeof(*tables->images))))
		return -ENOMEM;
	tables->image_room = room;
	tables->images[tables->image_count] = (struct page_image){
	    (uint32_t)name, (uint32_t)path, (uint32_t)build_id, (uint8_t)kind_of(functions, frame)};
	functions->of_dso[dso] = ++tables->image_count;
	if (known)
		*known = tables->image_count;
	return tables->image_count - 1;
}

int64_t tally_page_frame_name(struct page_tables *tables, const struct tally_frame *frame)
{
	struct tally_buf text = {0};
	int64_t name = -ENOMEM;

	if (frame->symbol)
		return tally_page_string(tables, frame->symbol);
	tally_report_frame(&text, frame);
	if (!text.failed)
		name = tally_page_string(tables, tally_buf_str(&text));
	tally_buf_done(&text);
	return name;
}

static uint64_t texts_of(uint32_t name, uint32_t image, bool inlined)
{
	return page_two(name, image << 1 | inlined);
}

uint32_t tally_page_function_find(const struct page_tables *tables, uint32_t name, uint32_t image,
				  bool inlined)
{
	const uint64_t *found =
	    tally_map_find(&tables->known_functions, texts_of(name, image, inlined));

	return found && *found ? (uint32_t)*found - 1 : PAGE_NONE;
}

/* The place of the function with the same texts, which another recording may have made.  A renamed
 * one has those that it had. NULL: out of memory. */
static uint64_t *known_function(struct page_functions *functions, uint32_t name, uint32_t image,
				bool inlined)
{
	struct page_tables *tables = functions->tables;
	const uint64_t *renamed =
	    functions->source && !inlined
		? tally_map_find(&tables->renamed, page_two(tables->images[image].name, name))
		: NULL;
	bool added;

	return tally_map_put(&tables->known_functions,
			     texts_of(renamed ? (uint32_t)*renamed : name, image, inlined), &added);
}

int64_t tally_page_function(struct page_functions *functions, uint32_t frame)
{
	struct page_tables *tables = functions->tables;
	uint32_t place = places_find(&functions->places, frame), room;
	struct tally_frame facts;
	uint64_t *known = NULL;
	int64_t image, name;
	bool many;

	if (!place)
		return -ENOMEM;
	if (functions->of_frame[place])
		return functions->of_frame[place] - 1;
	facts = tally_session_frame(functions->session, place);
	image = image_of(functions, &facts, functions->places.dso_of[place]);
	many = is_one_of_many(functions, place);
	name = many ? tally_page_string(tables, TALLY_MADE_NAMELESS)
		    : tally_page_frame_name(tables, &facts);
	if ((tables->several || many) && image >= 0 && name >= 0) {
		known = known_function(functions, (uint32_t)name, (uint32_t)image, facts.inlined);
		if (!known)
			return -ENOMEM;
		if (*known) {
			tables->functions[*known - 1].frames[functions->source] = place;
			functions->of_frame[place] = (uint32_t)*known;
			return functions->of_frame[place] - 1;
		}
	}
	room = array_room(tables->function_room, tables->function_count + 1, 1024);
	if (image < 0 || name < 0 ||
	    (room != tables->function_room &&
	     !array_resize(&tables->functions, room, sizeof(*tables->functions))))
		return -ENOMEM;
	tables->function_room = room;
	tables->functions[tables->function_count] = (struct page_function){
	    .name = (uint32_t)name,
	    .image = (uint32_t)image,
	    .kind = (uint8_t)kind_of(functions, &facts),
	    .inlined = facts.inlined,
	};
	tables->functions[tables->function_count].frames[functions->source] = place;
	functions->of_frame[place] = ++tables->function_count;
	if (known)
		*known = tables->function_count;
	return tables->function_count - 1;
}
