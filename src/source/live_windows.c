#include "source/live_windows.h"

#include <stdlib.h>
#include "file/live.h"

/* Nothing came for a moment; true: that was all. */
static bool wait_on(const struct tally_source *source)
{
	return source_progress(source, 0) ||
	       (source->waiting && source->waiting(source->waiting_context));
}

/* The next window of the stream; 0 at the end. */
static int take_window(struct tally_source *source, struct file_live_window *window)
{
	int result;

	do {
		result = tally_live_next(source->data, window);
	} while (result == -EAGAIN && !wait_on(source));
	return result == -EAGAIN ? -ECANCELED : result;
}

/* The processes as of this window.  An EXIT may be in the window before that of its thread's last
 * sample, so it is obeyed one window later. */
static int renew_processes(struct tally_source *source, uint64_t passed)
{
	int result = tally_process_renew(source->processes, source->passed[1]);

	return result ? result : tally_source_feed_sides(source, passed);
}

int tally_source_window(struct tally_source *source, struct source_window *ret,
			struct tally_error *error)
{
	struct file_live_window window;
	int result = take_window(source, &window);
	bool renewed;

	if (result <= 0)
		return result ? source_failed(source, result, error) : 0;
	free(source->pieces);
	source->pieces = NULL;
	source->piece_count = source->piece_room = 0;
	source->deferred_count = 0;
	source->counts.dropped = window.dropped;
	result = tally_source_scan(source, error);
	if (result < 0)
		return result;
	result = tally_jit_loads_read_on(&source->jit_loads, window.passed);
	renewed = source->side_count > 0 || result > 0;
	if (!renewed)
		tally_source_free_side_bytes(source);
	else if (result >= 0)
		result = renew_processes(source, window.passed);
	if (result)
		return source_failed(source, result, error);
	source->passed[1] = source->passed[0];
	source->passed[0] = window.passed;
	*ret = (struct source_window){.passed = window.passed, .renewed = renewed};
	return 1;
}
