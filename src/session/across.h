/* What is one thing in recordings of several runs: code made at run time is at other addresses in
 * each, and its image is named by the process. */
#ifndef TALLY_SESSION_ACROSS_H
#define TALLY_SESSION_ACROSS_H

#include <tally/session.h>

#define TALLY_MADE_IMAGE    "[JIT]"
#define TALLY_MADE_NAMELESS "[unknown]"

/* The name of an image, which is `name` in its own recording: of code made at run time without the
 * number of the process.  Borrowed as `name` is, or static. */
const char *tally_session_image_across(const struct tally_session *session, uint32_t image,
				       const char *name);
/* Whether a frame is an address in code made at run time that has no name.  Nothing says where
 * functions begin there, so all of an image are one. */
bool tally_session_is_made_nameless(const struct tally_session *session,
				    const struct tally_frame *frame);
/* Gives a frame the names that it has in all recordings. */
void tally_session_frame_across(const struct tally_session *session, struct tally_frame *frame);

#endif
