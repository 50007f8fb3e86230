/* A live source: a stream that is read while it grows, window by window (file/live.h).
 *
 * A window's records are treated like those of a file: its side-band records go to the processes,
 * which keep earlier information; then its samples are visited.  Names keep their numbers;
 * processes that ended, and mappings that were replaced, are forgotten.  So memory is needed for
 * one window (see file/live.h), for the processes that still run, and for all names so far. */
#ifndef TALLY_SOURCE_LIVE_WINDOWS_H
#define TALLY_SOURCE_LIVE_WINDOWS_H

#include "source/source.h"

struct source_window {
	/* The time up to which all samples have arrived; UINT64_MAX: the stream has ended. */
	uint64_t passed;
	bool renewed; /* mappings of processes have changed */
};

/* Waits for the next window and makes it the contents of the source.  1; 0: the stream has ended;
 * -ECANCELED, -errno with words. */
int tally_source_window(struct tally_source *source, struct source_window *ret,
			struct tally_error *error);

#endif
