#include "convert/code_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/pool.h"
#include "base/table.h"
#include "image/code.h"
#include "image/inlines.h"
#include "resolve/frames.h"
#include "resolve/resolve_tables.h"
#include "session/numbers.h"
#include "session/run.h"

/* Places that a thread looks up at a time, and frames. */
#define SHARE        256U
#define FRAMES_SHARE 4096U

static const struct tally_frames *frames_of(const struct code_places *places)
{
	return &tally_session_tables(places->convert->session)->frames;
}

static void take_frame(const struct tally_frames *frames, uint32_t number, struct code_frame *ret)
{
	const struct tally_frame facts = tally_frames_get(frames, number);
	struct tally_frame_place here;
	uint64_t start, end;

	tally_frames_placed(frames, number, &here);
	*ret = (struct code_frame){
	    .place = here.place,
	    .image = here.image,
	    .level = facts.level,
	    .inlined = facts.inlined,
	    .starts = !here.place || (tally_frames_symbol(frames, here.frame, &start, &end) &&
				      here.place <= start),
	};
}

static int take_frames(void *context, unsigned worker, size_t share)
{
	struct code_places *places = context;
	uint32_t at = (uint32_t)share * FRAMES_SHARE, end = at + FRAMES_SHARE;

	(void)worker;
	for (; at < end && at < places->stacks->frame_count; at++)
		take_frame(frames_of(places), places->stacks->frames[at], &places->frames[at]);
	return 0;
}

int tally_code_places_init(struct code_places *places, struct convert *convert,
			   const struct stack_table *stacks)
{
	*places = (struct code_places){.convert = convert, .stacks = stacks, .count = 1};
	places->steps = calloc(stacks->node_count * 2ULL, sizeof(*places->steps));
	places->plain = calloc(stacks->frame_count * 2ULL + 2, sizeof(*places->plain));
	places->frames = calloc(stacks->frame_count + 1ULL, sizeof(*places->frames));
	if (stacks->node_count > (uint32_t)INT32_MAX)
		return -ENOMEM;
	if (!places->steps || !places->plain || !places->frames ||
	    !array_resize(&places->list, 1024, sizeof(*places->list)))
		return -ENOMEM;
	places->room = 1024;
	places->list[0] = (struct code_place){0};
	return tally_pool_run(tally_session_threads(convert->session),
			      (stacks->frame_count + FRAMES_SHARE - 1ULL) / FRAMES_SHARE,
			      take_frames, places);
}

void tally_code_places_done(struct code_places *places)
{
	free(places->list);
	free(places->lines);
	free(places->steps);
	free(places->plain);
	free(places->frames);
	tally_map_done(&places->known);
	*places = (struct code_places){0};
}

static const struct code_frame *frame_at(const struct code_places *places, uint32_t node)
{
	return &places->frames[places->stacks->nodes[node].frame];
}

static bool add_line(struct code_places *places, uint32_t frame)
{
	uint32_t room = array_room(places->line_room, places->line_count + 1, 1024);

	if (room != places->line_room &&
	    !array_resize(&places->lines, room, sizeof(*places->lines)))
		return false;
	places->line_room = room;
	places->lines[places->line_count++] = (struct code_line){.frame = frame};
	return true;
}

/* A new place of `count` nodes, from the innermost one.  0: out of memory. */
static uint32_t add_place(struct code_places *places, uint32_t node, uint32_t count,
			  const struct code_frame *at, bool call)
{
	uint32_t room = array_room(places->room, places->count + 1, 1024);

	if (room != places->room && !array_resize(&places->list, room, sizeof(*places->list)))
		return 0;
	places->room = room;
	places->list[places->count] = (struct code_place){
	    .place = call ? at->place - 1 : at->place,
	    .address = call ? at->place - 1 : at->place,
	    .image = at->image,
	    .first_line = places->line_count,
	    .line_count = count,
	    .call = call,
	};
	for (; count; count--, node = places->stacks->nodes[node].caller)
		if (!add_line(places, places->stacks->nodes[node].frame))
			return 0;
	return places->count++;
}

/* The place that begins at a node.  0: out of memory. */
static uint32_t find_place(struct code_places *places, uint32_t node, bool call, uint32_t *ret_next)
{
	const struct code_frame *here = frame_at(places, node);
	uint32_t count = 1, at = node, next = places->stacks->nodes[node].caller;
	uint32_t *plain = &places->plain[places->stacks->nodes[node].frame * 2ULL + call];
	uint64_t key, *known;
	bool added;

	*ret_next = next;
	if (*plain)
		return *plain;
	while (next && frame_at(places, at)->inlined) {
		const struct code_frame *there = frame_at(places, next);

		if (there->image != here->image || there->place != here->place)
			break;
		count++;
		at = next;
		next = places->stacks->nodes[at].caller;
	}
	*ret_next = next;
	/* A call is within its function. */
	call = call && !here->starts;
	if (!here->inlined) {
		uint32_t *exact = &places->plain[places->stacks->nodes[node].frame * 2ULL + call];

		if (!*exact)
			*exact = add_place(places, node, count, here, call);
		return *plain = *exact;
	}
	key = (uint64_t)places->stacks->nodes[node].frame << 32 |
	      (uint64_t)(count & INT32_MAX) << 1 | call;
	known = tally_map_put(&places->known, key, &added);
	if (known && added)
		*known = add_place(places, node, count, here, call);
	return known ? (uint32_t)*known : 0;
}

uint32_t tally_code_places_walk(struct code_places *places, struct code_position *at)
{
	struct code_step *step = &places->steps[at->node * 2ULL + at->call];

	if (!step->place) {
		uint32_t next = 0;

		step->place = find_place(places, at->node, at->call, &next);
		step->next = next & INT32_MAX;
		/* What the kernel interrupted was not calling. */
		step->calls =
		    next ? frame_at(places, at->node)->level == frame_at(places, next)->level
			 : at->call;
	}
	at->node = step->next;
	at->call = step->calls;
	return step->place;
}

int tally_code_places_add(struct code_places *places, uint32_t node)
{
	struct code_position at = {.node = node};

	/* What is behind a position that was walked before was walked then, too. */
	while (at.node && !places->steps[at.node * 2ULL + at.call].place)
		if (!tally_code_places_walk(places, &at))
			return -ENOMEM;
	return 0;
}

/* --- lines --- */

static const char *known_file(const char *file)
{
	return file && strcmp(file, "??") != 0 ? file : NULL;
}

/* Of inlined functions the innermost is where the address is, others are where they call the one
 * before. */
static void take_inlines(struct code_places *places, const struct code_place *place,
			 const struct tally_inline *inlines, size_t count)
{
	struct code_line *lines = &places->lines[place->first_line];

	/* A chain without its inlined functions is in the one that is not. */
	for (uint32_t i = 0; i < place->line_count; i++) {
		size_t from_end = place->line_count - i;

		if (from_end > count)
			continue;
		lines[i].line = inlines[count - from_end].line;
		lines[i].file = known_file(inlines[count - from_end].file);
	}
}

static int find_lines(struct code_places *places, struct code_place *place)
{
	struct tally_image *image = tally_frames_image_at(frames_of(places), place->image)->image;
	struct code_line *lines = &places->lines[place->first_line];
	const struct tally_inline *inlines;
	struct tally_line line;
	size_t count;
	int result;

	if (!image)
		return 0;
	result = tally_image_line(image, place->place, &line);
	if (result && result != -ENOENT)
		return result;
	place->address = line.address;
	if (result)
		return 0;
	lines[place->line_count - 1].line = line.line;
	lines[place->line_count - 1].file = known_file(line.file);
	result = tally_image_inlines(image, place->place, &inlines, &count);
	if (!result && count)
		take_inlines(places, place, inlines, count);
	return result;
}

bool tally_code_places_nameless(const struct code_places *places, const struct code_place *place)
{
	const struct tally_frame_image *image;
	uint8_t size = 0;

	if (!places->convert->options.no_symbols)
		return false;
	image = tally_frames_image_at(frames_of(places), place->image);
	if (image->image && tally_image_kind(image->image) == TALLY_IMAGE_FILE &&
	    !image->places_are_addresses)
		tally_image_build_id(image->image, &size);
	return size;
}

static int find_share(void *context, unsigned worker, size_t share)
{
	struct code_places *places = context;
	uint32_t at = (uint32_t)share * SHARE, end = at + SHARE;
	int result = 0;

	if (!worker && tally_session_interrupted(places->convert->session))
		return -ECANCELED;
	for (; at < end && at < places->count && !result; at++)
		if (places->list[at].line_count &&
		    !tally_code_places_nameless(places, &places->list[at]))
			result = find_lines(places, &places->list[at]);
	return result;
}

int tally_code_places_find(struct code_places *places)
{
	if (places->convert->options.no_lines)
		return 0;
	return tally_pool_run(tally_session_threads(places->convert->session),
			      (places->count + SHARE - 1) / SHARE, find_share, places);
}
