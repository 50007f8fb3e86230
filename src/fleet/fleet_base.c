#include "fleet/fleet_base.h"

#include "resolve/frames.h"
#include "resolve/resolve_tables.h"
#include "session/numbers.h"

struct fleet_base tally_fleet_base(struct tally_session *session, uint32_t image)
{
	const struct tally_frames *frames = &tally_session_tables(session)->frames;
	struct tally_image_facts facts;
	uint64_t base;

	if (!frames_base(frames, image, &base))
		return (struct fleet_base){.known = false};
	/* Without a build-id nothing is known to be the same kernel. */
	if (base && (!tally_session_image_facts(session, image, &facts) || !facts.build_id_size))
		return (struct fleet_base){.known = false};
	return (struct fleet_base){.known = true, .base = base};
}

uint64_t tally_fleet_start(struct tally_session *session, uint32_t frame)
{
	const struct tally_frames *frames = &tally_session_tables(session)->frames;
	struct tally_frame_place placed;
	struct fleet_base base;
	struct tally_frame facts;
	uint64_t start, end;

	tally_frames_placed(frames, frame, &placed);
	facts = tally_frames_get(frames, placed.frame);
	base = tally_fleet_base(session, placed.image);
	if (facts.inlined || !base.known)
		return 0;
	if (facts.function)
		return facts.place - base.base;
	return tally_frames_symbol(frames, placed.frame, &start, &end) ? start - base.base : 0;
}
