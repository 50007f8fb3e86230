/* A live session: its source is a stream that is read while it grows, window by window
 * (file/live.h).
 *
 * A window's records take the place of a file's: its side-band records go to the processes, which
 * hold what is known from before; then its samples are visited as a file's are.  Names, images,
 * frames and stacks keep their numbers; processes that ended, and mappings that were replaced, are
 * forgotten.  So memory is that of one window (see file/live.h), of the processes that live, and of
 * the names, binaries, functions and stacks that were ever met. */
#ifndef TALLY_SESSION_LIVE_WINDOWS_H
#define TALLY_SESSION_LIVE_WINDOWS_H

#include "session/session.h"

/* Waits for the next window and makes it what the session holds.  What is remembered by mappings,
 * spaces or eras is not true any more.  1, and in *ret_passed the time up to which all samples are
 * there then (UINT64_MAX: no more come); 0: the stream has ended; -ECANCELED, -errno with words. */
int tally_session_window(struct tally_session *session, uint64_t *ret_passed,
			 struct tally_error *error);

#endif
