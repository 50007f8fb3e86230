/* The order of samples by time alone, in windows of time: each is a batch, which any thread sorts
 * by itself.  A thread that takes the next window finds out under the lock only which runs have
 * samples in it.  It reads their records after releasing the lock, and has them in its caches when
 * it needs them.
 *
 * Memory: 16 bytes a run, and 40 bytes for each sample of a thread's window, which has no more
 * than WINDOWS_OVERLAP bytes of samples beyond a batch. */
#ifndef TALLY_SOURCE_TIME_WINDOWS_H
#define TALLY_SOURCE_TIME_WINDOWS_H

#include "source/order.h"

/* Bytes of runs that have a time in common, at most: 1,024 rings with runs of the greatest size. */
#define WINDOWS_OVERLAP ((uint64_t)32 << 20)

/* A run that a window may have samples of. */
struct window_run {
	uint32_t number;
	uint32_t windows; /* approximate */
	uint64_t place; /* of its first sample that no earlier window had, or of one before that */
};

/* The window that one thread took. */
struct time_window {
	uint64_t from, until; /* [from, until) */
	struct window_run *runs;
	size_t count, room;
	/* Its samples while they are sorted. */
	struct time_entry *spare[2];
	size_t entry_count, entry_room;
	size_t *bounds; /* of ascending runs */
	size_t bound_room;
};

struct time_windows {
	const struct tally_source *source;
	struct time_queue queue; /* numbers of runs that are in no window yet, by first time */
	uint64_t from;
	/* Those that the next window may have samples of, in the order of the file. */
	struct window_run *open;
	size_t open_count, open_room;
	size_t bytes;    /* of runs that a window begins */
	uint64_t passed; /* bytes of runs, for progress */
};

/* A window begins runs of so many bytes: with more of them fewer runs are in two windows, but the
 * samples of a window should stay in a processor's second cache.  0; -E2BIG: too many runs overlap;
 * -ENOMEM.  tally_time_windows_done() follows in any case. */
int tally_time_windows_init(struct time_windows *windows, const struct tally_source *source,
			    size_t bytes);
void tally_time_windows_done(struct time_windows *windows);
/* 1: the next window, which may have no sample; 0: there is none; -ENOMEM. */
int tally_time_windows_next(struct time_windows *windows, struct time_window *ret);

void tally_time_window_done(struct time_window *window);
/* Reads some samples of one piece, in the order of the file, and may replace a sample's place by a
 * token. */
typedef void (*tally_window_token_fn)(void *context, struct time_entry *entries, size_t count);
/* Fills an empty batch with a window's samples, in order; `tokens` or NULL.  0 or -ENOMEM. */
int tally_time_window_fill(const struct tally_source *source, struct time_window *window,
			   tally_window_token_fn tokens, void *context, struct order_batch *batch);

#endif
