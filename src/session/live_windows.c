#include "session/live_windows.h"

#include <stdlib.h>
#include "file/live.h"

/* The next window of the stream; 0 at the end. */
static int take_window(struct tally_session *session, struct file_live_window *window)
{
	int result;

	do {
		result = tally_live_next(session->data, window);
	} while (result == -EAGAIN && !session_progress(session, 0));
	return result == -EAGAIN ? -ECANCELED : result;
}

/* The processes as of this window.  An EXIT may be in the window before that of its thread's last
 * sample, so it is obeyed one window later. */
static int renew_processes(struct tally_session *session)
{
	int result;

	if (!session->side_count) {
		tally_session_free_side_bytes(session);
		return 0;
	}
	result = tally_process_renew(session->processes, session->passed[1]);
	if (!result)
		result = tally_session_feed_sides(session);
	if (!result)
		result = tally_frames_renew(&session->frames,
					    tally_process_mapping_count(session->processes));
	tally_session_find_kernel(session);
	return result;
}

int tally_session_window(struct tally_session *session, uint64_t *ret_passed,
			 struct tally_error *error)
{
	struct file_live_window window;
	int result = take_window(session, &window);

	if (result <= 0)
		return result ? session_failed(session, result, error) : 0;
	free(session->pieces);
	session->pieces = NULL;
	session->piece_count = session->piece_room = 0;
	session->counts.dropped = window.dropped;
	result = tally_session_scan(session, error);
	if (result < 0)
		return result;
	result = renew_processes(session);
	if (result)
		return session_failed(session, result, error);
	session->passed[1] = session->passed[0];
	session->passed[0] = *ret_passed = window.passed;
	return 1;
}
