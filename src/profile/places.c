#include "profile/places.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/table.h"

void tally_places_done(struct tally_places *places)
{
	free(places->place_of);
	free(places->dso_of);
	free(places->dso_frame);
	free(places->call_of);
	tally_strings_done(&places->dsos);
	*places = (struct tally_places){0};
}

static uint32_t hash_of(uint32_t dso, const struct tally_frame *frame)
{
	uint64_t hash = hash_mix(hash_u64((uint64_t)dso << 1 | !!frame->symbol), frame->place);

	/* Hundreds of them may be in one place. */
	if (frame->inlined)
		hash = hash_mix(hash, tally_hash_bytes(frame->symbol, strlen(frame->symbol)));
	return (uint32_t)hash;
}

static bool same(const struct tally_frame *a, const struct tally_frame *b)
{
	return a->place == b->place && !a->symbol == !b->symbol && a->inlined == b->inlined &&
	       (!a->symbol || a->symbol == b->symbol || !strcmp(a->symbol, b->symbol));
}

static int64_t dso_number(struct tally_places *places, uint32_t frame, const char *name)
{
	int64_t dso = tally_strings_intern(&places->dsos, name, strlen(name));

	if (dso < 0)
		return dso;
	if (!array_reach(&places->dso_frame, &places->dso_room, (uint32_t)dso, 64,
			 sizeof(*places->dso_frame)))
		return -ENOMEM;
	if (!places->dso_frame[dso])
		places->dso_frame[dso] = frame;
	return dso;
}

/* Names that frames had lately, and their numbers: one after another has the same. */
#define NAMES 16U
/* Frames whose misses of the caches overlap. */
#define BATCH 32U

struct filling {
	struct tally_places *places;
	uint64_t *slots; /* the hash in the upper half, then the frame; 0: free */
	uint32_t mask;
	uint32_t known; /* frames below have their places */
	bool moved;     /* a frame took the place of another */
	struct {
		const char *name;
		uint32_t dso;
	} names[NAMES];
};

static int64_t dso_of(struct filling *filling, uint32_t frame, const struct tally_frame *facts)
{
	const char *name = facts->image_name ? facts->image_name : "[unknown]";
	unsigned at = (unsigned)(hash_u64((uintptr_t)name) % NAMES);

	if (filling->names[at].name != name) {
		int64_t dso = dso_number(filling->places, frame, name);

		if (dso < 0)
			return dso;
		filling->names[at].name = name;
		filling->names[at].dso = (uint32_t)dso;
	}
	return filling->names[at].dso;
}

/* Which of two frames with one place stands for it: it is shown with its level, and that must not
 * depend on which was met first. */
static bool stands_before(const struct tally_frame *a, const struct tally_frame *b)
{
	return a->level != b->level &&
	       (a->level == '.' || (b->level != '.' && a->level > b->level));
}

static void put(struct filling *filling, uint32_t frame, uint32_t hash)
{
	struct tally_places *places = filling->places;
	struct tally_frame facts, known;
	uint64_t slot;
	uint32_t at;

	for (at = hash & filling->mask; (slot = filling->slots[at]);
	     at = (at + 1) & filling->mask) {
		uint32_t other = (uint32_t)slot;

		if (slot >> 32 != hash || places->dso_of[other] != places->dso_of[frame])
			continue;
		facts = tally_session_frame(places->session, frame);
		known = tally_session_frame(places->session, other);
		if (same(&known, &facts)) {
			bool moves = other >= filling->known && stands_before(&facts, &known);

			places->place_of[frame] = moves ? frame : other;
			if (!moves)
				return;
			places->place_of[other] = frame;
			filling->slots[at] = (uint64_t)hash << 32 | frame;
			filling->moved = true;
			return;
		}
	}
	filling->slots[at] = (uint64_t)hash << 32 | frame;
	places->place_of[frame] = frame;
}

/* Finds the places of the frames from `known` on; those below are known. */
static int fill(struct filling *filling, uint32_t known, uint32_t count)
{
	struct tally_places *places = filling->places;

	for (uint32_t first = 1; first < count; first += BATCH) {
		uint32_t end = count - first < BATCH ? count : first + BATCH;
		uint32_t hashes[BATCH] = {0};

		for (uint32_t frame = first; frame < end; frame++) {
			struct tally_frame facts;
			int64_t dso;

			if (frame < known && places->place_of[frame] != frame)
				continue;
			facts = tally_session_frame(places->session, frame);
			dso = dso_of(filling, frame, &facts);
			if (dso < 0)
				return -ENOMEM;
			places->dso_of[frame] = (uint32_t)dso;
			places->inlined |= facts.inlined;
			hashes[frame - first] = hash_of((uint32_t)dso, &facts);
			__builtin_prefetch(&filling->slots[hashes[frame - first] & filling->mask],
					   1);
		}
		for (uint32_t frame = first; frame < end; frame++)
			if (frame >= known || places->place_of[frame] == frame)
				put(filling, frame, hashes[frame - first]);
	}
	return 0;
}

/* Of functions that have the name of an inlined one, the one that comes first in reports. */
static bool is_before(const struct tally_frame *a, const struct tally_frame *b)
{
	int names = strcmp(a->image_name, b->image_name);

	return names ? names < 0 : a->place < b->place;
}

/* Calls of equal names where one of two was inlined are one, and a function that was not stands for
 * them: perf takes the one that it meets first. */
static int merge_calls(struct tally_places *places)
{
	const struct tally_session *session = places->session;
	struct tally_map names = {0}; /* hash of the name -> the frame that stands for it */
	int result = 0;

	for (unsigned walk = 0; walk < 3; walk++) {
		for (uint32_t frame = 1; frame < places->frame_count; frame++) {
			const struct tally_frame facts = tally_session_frame(session, frame);
			struct tally_frame known;
			uint64_t hash, *stands;
			bool added = false;

			if (places->place_of[frame] != frame || !facts.symbol ||
			    facts.inlined != (walk != 1))
				continue;
			hash = tally_hash_bytes(facts.symbol, strlen(facts.symbol));
			if (!walk) {
				stands = tally_map_put(&names, hash, &added);
				if (!stands)
					result = -ENOMEM;
				else if (added)
					*stands = frame;
				continue;
			}
			stands = tally_map_find(&names, hash);
			if (!stands)
				continue;
			known = tally_session_frame(session, (uint32_t)*stands);
			if (strcmp(known.symbol, facts.symbol) != 0)
				continue;
			if (walk == 2)
				places->call_of[frame] = (uint32_t)*stands;
			else if (known.inlined || is_before(&facts, &known))
				*stands = frame;
		}
	}
	tally_map_done(&names);
	return result;
}

static int set_calls(struct tally_places *places)
{
	if (!places->inlined)
		return 0;
	if (!array_resize(&places->call_of, places->frame_count, sizeof(*places->call_of)))
		return -ENOMEM;
	for (uint32_t frame = 0; frame < places->frame_count; frame++)
		places->call_of[frame] = frame;
	return merge_calls(places);
}

int tally_places_grow(struct tally_places *places)
{
	uint32_t count = tally_session_frame_count(places->session), old = places->frame_count;
	struct filling filling = {.places = places, .known = old};
	uint64_t room = 64;
	int result;

	if (count <= old)
		return 0;
	while (room < (uint64_t)count + count / 2)
		room *= 2;
	if (room > UINT32_MAX ||
	    !array_resize(&places->place_of, count, sizeof(*places->place_of)) ||
	    !array_resize(&places->dso_of, count, sizeof(*places->dso_of)))
		return -ENOMEM;
	memset(places->place_of + old, 0, (count - old) * sizeof(*places->place_of));
	memset(places->dso_of + old, 0, (count - old) * sizeof(*places->dso_of));
	filling.slots = table_new(room, sizeof(*filling.slots));
	filling.mask = (uint32_t)room - 1;
	result = filling.slots ? fill(&filling, old, count) : -ENOMEM;
	free(filling.slots);
	for (uint32_t frame = old; filling.moved && frame < count; frame++)
		while (places->place_of[places->place_of[frame]] != places->place_of[frame])
			places->place_of[frame] = places->place_of[places->place_of[frame]];
	if (result)
		return result;
	places->frame_count = count;
	return set_calls(places);
}

int tally_places_init(struct tally_places *places, const struct tally_session *session)
{
	int result;

	*places = (struct tally_places){.session = session};
	result = tally_places_grow(places);
	if (result)
		tally_places_done(places);
	return result;
}
