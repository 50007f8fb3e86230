/* A live source: a stream that is read while it grows, window by window (file/live.h).
 *
 * A window's records take the place of a file's: its side-band records go to the processes, which
 * hold what is known from before; then its samples are visited as a file's are.  Names keep their
 * numbers; processes that ended, and mappings that were replaced, are forgotten.  So memory is that
 * of one window (see file/live.h), of the processes that live, and of the names that were ever met.
 */
#ifndef TALLY_SOURCE_LIVE_WINDOWS_H
#define TALLY_SOURCE_LIVE_WINDOWS_H

#include "source/source.h"

struct source_window {
	/* The time up to which all samples are there now; UINT64_MAX: no more come. */
	uint64_t passed;
	bool renewed; /* the processes' mappings are others now */
};

/* Waits for the next window and makes it what the source holds.  1; 0: the stream has ended;
 * -ECANCELED, -errno with words. */
int tally_source_window(struct tally_source *source, struct source_window *ret,
			struct tally_error *error);

#endif
