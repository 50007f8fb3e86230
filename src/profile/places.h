/* Frames as rows and trees tell them apart: by what is read in a report.
 *
 * The session numbers frames by (image, symbol).  Two images may have one short name (a library in
 * two containers, one file at two paths); their equal symbols are one place, as in perf's reports,
 * which compare short names and symbols.  All are found at once, after samples were read, in the
 * order of frames, which is that of memory; then read only. */
#ifndef TALLY_PROFILE_PLACES_H
#define TALLY_PROFILE_PLACES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/map.h"
#include "session/numbers.h"

struct tally_places {
	const struct tally_session *session;
	uint32_t frame_count;
	uint32_t *place_of; /* by frame: the first frame with its place */
	uint32_t *dso_of;   /* by frame: number of its image's short name */
	struct tally_strings dsos;
	uint32_t *dso_frame; /* by dso: a frame in it */
	uint32_t dso_room;
	bool inlined;      /* some frame was */
	uint32_t *call_of; /* by frame: see places_call(); NULL: none was inlined */
};

/* 0 or -ENOMEM. */
int tally_places_init(struct tally_places *places, const struct tally_session *session);
/* Takes the frames that the session met since; 0 or -ENOMEM. */
int tally_places_grow(struct tally_places *places);
void tally_places_done(struct tally_places *places);

/* The frame that stands for a place in trees, where functions that were inlined differ by
 * their names alone, as in perf's. */
static inline uint32_t places_call(const struct tally_places *places, uint32_t place)
{
	return places->call_of ? places->call_of[place] : place;
}

/* The frame that stands for this frame's place; 0: there is no such frame. */
static inline uint32_t places_find(const struct tally_places *places, uint32_t frame)
{
	return frame < places->frame_count ? places->place_of[frame] : 0;
}

#endif
