/* Running sinks over a session, as the layers above do it. */
#ifndef TALLY_SESSION_RUN_H
#define TALLY_SESSION_RUN_H

#include <tally/batch.h>
#include "base/bits.h"
#include "base/bytes.h"
#include "resolve/resolve.h"

/* How many frames of a chain are unwound at most, and how many frames a stack has at most (0: all);
 * before running.  perf's usual 127, and all, when never set. */
void tally_session_unwind_most(struct tally_session *session, uint32_t frames);
void tally_session_stack_most(struct tally_session *session, uint32_t frames);
unsigned tally_session_threads(const struct tally_session *session);
/* Whether the session's progress function asks to stop, for work behind a run. */
bool tally_session_interrupted(const struct tally_session *session);

/* Samples that a run is about; others are passed over. */
struct tally_rows_wanted {
	const uint64_t *frames; /* a bit each: samples in such a frame */
	uint32_t frame_count;
	const uint64_t *addresses; /* bits by rows_address_hash(): some address with it led to such
				    * a frame; NULL: not known */
};
#define ROWS_ADDRESS_BITS 20 /* few enough to stay in a processor's second cache */

static inline uint32_t rows_address_hash(uint64_t addr)
{
	return (uint32_t)(hash_u64(addr) >> (64 - ROWS_ADDRESS_BITS));
}

static inline bool rows_want_frame(const struct tally_rows_wanted *wanted, uint32_t frame)
{
	return frame < wanted->frame_count && bits_has(wanted->frames, frame);
}

/* tally_session_run() over some samples; NULL: all. */
int tally_session_run_wanted(struct tally_session *session, const struct tally_sink *const *sinks,
			     size_t count, const struct tally_rows_wanted *wanted,
			     struct tally_error *error);

/* Takes a sample on one of the threads, borrowed; `more` is set where it stands for several.  0, or
 * below 0 to end the run. */
typedef int (*tally_show_sample_fn)(void *context, unsigned worker, struct tally_resolver *resolver,
				    const struct tally_resolved *sample);
/* Shows the samples of a file, all of them, in any order, with these fields (PERF_SAMPLE_*), call
 * chains as tally_resolver_complete() leaves them.  As for the first run of a session, the sums of
 * the first pass serve where there are any. */
int tally_session_show_samples(struct tally_session *session, uint64_t fields,
			       tally_show_sample_fn show, void *context, struct tally_error *error);

/* What takes rows in the order of time from several threads, a part of them at a time. */
struct tally_row_parts {
	/* The rows that a worker gives to the sink's batch() from now on belong to the part with
	 * this slot, below tally_session_slots(), until the worker begins another one. */
	void (*begin)(void *context, unsigned worker, unsigned slot);
	/* Takes what was made of a part: in the order of time, one at a time, on any thread.  0 or
	 * -errno. */
	int (*take)(void *context, unsigned slot);
};
/* tally_session_run() of one sink, which does not say in_order. */
int tally_session_run_parts(struct tally_session *session, const struct tally_sink *sink,
			    const struct tally_row_parts *parts, struct tally_error *error);
/* How many slots a run uses. */
unsigned tally_session_slots(const struct tally_session *session);

/* Samples that filters left out of the last run, and the sum of their periods. */
struct tally_left_out {
	uint64_t samples, period;
};
struct tally_left_out tally_session_left_out(const struct tally_session *session, size_t event);

/* Whether a run of such fields (PERF_SAMPLE_*) is fast, as the first pass summed samples up; the
 * first run uses that up. */
bool tally_session_sums_early(const struct tally_session *session, uint64_t fields);

#endif
