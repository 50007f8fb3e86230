#include "session/across.h"

#include <string.h>
#include "session/numbers.h"

const char *tally_session_image_across(const struct tally_session *session, uint32_t image,
				       const char *name)
{
	if (!name || !tally_session_image_is_made(session, image))
		return name;
	return name[0] == '[' && strncmp(name, TALLY_MADE_IMAGE, strlen(TALLY_MADE_IMAGE)) != 0
		   ? name
		   : TALLY_MADE_IMAGE;
}

bool tally_session_is_made_nameless(const struct tally_session *session,
				    const struct tally_frame *frame)
{
	return !frame->symbol && !frame->function &&
	       tally_session_image_is_made(session, frame->image);
}

void tally_session_frame_across(const struct tally_session *session, struct tally_frame *frame)
{
	if (tally_session_is_made_nameless(session, frame))
		frame->symbol = TALLY_MADE_NAMELESS;
	frame->image_name = tally_session_image_across(session, frame->image, frame->image_name);
}
