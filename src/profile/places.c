#include "profile/places.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"

int tally_places_init(struct tally_places *places, const struct tally_session *session)
{
	uint32_t count = tally_session_frame_count(session);

	/* One beyond: frames are numbered from 1, and the count may or may not tell number 0. */
	*places = (struct tally_places){.session = session, .slot_room = 1024};
	places->frame_count = count < UINT32_MAX ? count + 1 : count;
	places->place_of = calloc(places->frame_count, sizeof(*places->place_of));
	places->dso_of = calloc(places->frame_count, sizeof(*places->dso_of));
	places->slots = calloc(places->slot_room, sizeof(*places->slots));
	if (!places->place_of || !places->dso_of || !places->slots) {
		tally_places_done(places);
		return -ENOMEM;
	}
	return 0;
}

int tally_places_grow(struct tally_places *places)
{
	uint32_t count = tally_session_frame_count(places->session), old = places->frame_count;
	uint32_t *place_of, *dso_of;

	count += count < UINT32_MAX;
	if (count <= old)
		return 0;
	place_of = reallocarray(places->place_of, count, sizeof(*place_of));
	if (!place_of)
		return -ENOMEM;
	places->place_of = place_of;
	dso_of = reallocarray(places->dso_of, count, sizeof(*dso_of));
	if (!dso_of)
		return -ENOMEM;
	places->dso_of = dso_of;
	memset(place_of + old, 0, (count - old) * sizeof(*place_of));
	memset(dso_of + old, 0, (count - old) * sizeof(*dso_of));
	places->frame_count = count;
	return 0;
}

void tally_places_done(struct tally_places *places)
{
	free(places->place_of);
	free(places->dso_of);
	free(places->slots);
	free(places->dso_frame);
	tally_strings_done(&places->dsos);
	*places = (struct tally_places){0};
}

static uint32_t hash_of(uint32_t dso, const struct tally_frame *frame)
{
	return (uint32_t)hash_mix(hash_u64((uint64_t)dso << 1 | !!frame->symbol), frame->place);
}

static bool same(const struct tally_frame *a, const struct tally_frame *b)
{
	return a->place == b->place && !a->symbol == !b->symbol &&
	       (!a->symbol || a->symbol == b->symbol || !strcmp(a->symbol, b->symbol));
}

static int grow(struct tally_places *places)
{
	uint32_t room = places->slot_room * 2, *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < places->slot_room; i++) {
		uint32_t frame = places->slots[i], at;
		struct tally_frame told;

		if (!frame)
			continue;
		told = tally_session_frame(places->session, frame);
		for (at = hash_of(places->dso_of[frame], &told) & (room - 1); slots[at];)
			at = (at + 1) & (room - 1);
		slots[at] = frame;
	}
	free(places->slots);
	places->slots = slots;
	places->slot_room = room;
	return 0;
}

static int64_t dso_number(struct tally_places *places, uint32_t frame, const char *name)
{
	int64_t dso = tally_strings_intern(&places->dsos, name, strlen(name));

	if (dso < 0)
		return dso;
	if ((uint64_t)dso >= places->dso_room) {
		uint32_t room = places->dso_room ? places->dso_room * 2 : 64;
		uint32_t *more = reallocarray(places->dso_frame, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		memset(more + places->dso_room, 0, (room - places->dso_room) * sizeof(*more));
		places->dso_frame = more;
		places->dso_room = room;
	}
	if (!places->dso_frame[dso])
		places->dso_frame[dso] = frame;
	return dso;
}

uint32_t tally_places_find(struct tally_places *places, uint32_t frame)
{
	struct tally_frame told;
	int64_t dso;
	uint32_t at;

	if (frame >= places->frame_count || !frame)
		return 0;
	if (places->place_of[frame])
		return places->place_of[frame];
	if (places->slot_count * 2 >= places->slot_room && grow(places))
		return 0;
	told = tally_session_frame(places->session, frame);
	dso = dso_number(places, frame, told.image_name ? told.image_name : "[unknown]");
	if (dso < 0)
		return 0;
	for (at = hash_of((uint32_t)dso, &told) & (places->slot_room - 1); places->slots[at];
	     at = (at + 1) & (places->slot_room - 1)) {
		uint32_t other = places->slots[at];
		struct tally_frame known;

		if (places->dso_of[other] != (uint32_t)dso)
			continue;
		known = tally_session_frame(places->session, other);
		if (same(&known, &told))
			return places->place_of[frame] = other;
	}
	places->slots[at] = frame;
	places->slot_count++;
	places->dso_of[frame] = (uint32_t)dso;
	return places->place_of[frame] = frame;
}
