/* Functions that were inlined where an unwound address is: frames of their own in its chain, as
 * perf has them.  An address whose frames are more than the plain one has a run of them, made once
 * for each place in a binary. */
#include <errno.h>
#include <stdlib.h>
#include "base/table.h"
#include "image/inlines.h"
#include "resolve/resolver.h"

/* Files are smaller and fewer; of others nothing is known. */
#define PLACE_BITS 40
#define MOST_WORDS (1U << 30)

void tally_resolver_runs_done(struct inlined_runs *runs)
{
	tally_map_done(&runs->by_place);
	free(runs->words);
	*runs = (struct inlined_runs){0};
}

static bool has_room(struct inlined_runs *runs, uint64_t more)
{
	uint64_t room = runs->room ? runs->room : 1024;

	while (room - runs->count < more)
		room *= 2;
	if (room > MOST_WORDS)
		return false;
	if (room != runs->room && !array_resize(&runs->words, room, sizeof(*runs->words)))
		return false;
	runs->room = (uint32_t)room;
	return true;
}

/* Where the run of a place starts, + 1; 0: its only frame is the plain one.  -ENOMEM. */
static int64_t make_run(struct tally_resolver *resolver, uint32_t image, uint64_t place,
			uint32_t plain)
{
	struct tally_frames *frames = &resolver->tables->frames;
	struct inlined_runs *runs = &resolver->runs;
	uint32_t start = runs->count, *words;
	const struct tally_inline *inlines;
	size_t count;
	int result = tally_image_inlines(tally_frames_image_at(frames, image)->image, place,
					 &inlines, &count);

	if (result)
		return result;
	if (!count || (count == 1 && !inlines->inlined))
		return 0;
	if (!has_room(runs, count + 2))
		return -ENOMEM;
	atomic_store_explicit(&resolver->tables->inlines_met, true, memory_order_relaxed);
	words = runs->words + start;
	words[0] = inlines->inlined ? plain : 0;
	words[1] = (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		/* perf does not mark what has the name of the symbol.  At places it is marked: two
		 * plain frames at one address are a function that calls itself. */
		bool inlined = inlines[i].inlined || (resolver->tables->places && i + 1 < count);

		words[2 + i] =
		    inlined
			? resolver_at_place(
			      resolver, tally_frames_inlined(frames, image, place, inlines[i].name),
			      place)
			: plain;
		if (!words[2 + i])
			return -ENOMEM;
	}
	runs->count += (uint32_t)count + 2;
	return start + 1;
}

/* The same, made once. */
static int64_t run_of_place(struct tally_resolver *resolver, uint32_t image, uint64_t place,
			    uint32_t plain)
{
	struct tally_map *map = &resolver->runs.by_place;
	uint64_t key = (uint64_t)image << PLACE_BITS | place, *known;
	int64_t start;
	bool added;

	if (place >> PLACE_BITS || image >> (64 - PLACE_BITS))
		return 0;
	known = tally_map_find(map, key);
	if (known)
		return (int64_t)*known;
	start = make_run(resolver, image, place, plain);
	if (start < 0)
		return start;
	known = tally_map_put(map, key, &added);
	if (!known)
		return -ENOMEM;
	*known = (uint64_t)start;
	return start;
}

uint32_t tally_resolver_run_miss(struct tally_resolver *resolver,
				 const struct tally_resolved *sample, uint32_t era, uint64_t addr)
{
	const uint8_t mode = PERF_RECORD_MISC_USER;
	struct tally_frames *frames = &resolver->tables->frames;
	uint32_t plain = tally_resolver_frame(resolver, sample, mode, addr), image;
	const struct tally_mapping *mapping;
	int64_t start = 0;
	uint64_t place;
	char level;

	if (!plain)
		return 0;
	mapping = tally_resolver_mapping(resolver, sample, mode, addr, &level);
	if (mapping && !mapping->ksymbol && !resolver->tables->no_inlines) {
		if (tally_frames_place(frames, &resolver->source, mapping, level, addr, &image,
				       &place))
			return 0;
		if (tally_frames_image_at(frames, image)->image)
			start = run_of_place(resolver, image, place, plain);
		if (start < 0)
			return 0;
	}
	if (start)
		plain = (uint32_t)(start - 1) | RESOLVER_RUN;
	tally_resolver_keep(resolver, era, addr, plain);
	return plain;
}
