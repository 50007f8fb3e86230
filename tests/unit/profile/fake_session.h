/* A session made up by a test: samples whose addresses are frame numbers. */
#ifndef TESTS_FAKE_SESSION_H
#define TESTS_FAKE_SESSION_H

#include <tally/data.h>
#include <tally/info.h>
#include "resolve/stacks.h"
#include "session/numbers.h"

#define FAKE_DEPTH 64

struct fake_sample {
	uint32_t event, comm, pid, tid, cpu;
	uint64_t period, time;
	uint32_t depth;             /* 0: no chain, the place is chain[0] */
	uint64_t chain[FAKE_DEPTH]; /* innermost first; frame numbers */
	uint64_t ip;                /* 0: chain[0] */
};

struct tally_data {
	struct tally_data_event events[4];
	size_t event_count;
	struct tally_data_info info;
};

struct tally_session {
	struct tally_data data;
	const struct tally_frame *frames; /* by number; 0 is not used */
	uint32_t frame_count;
	const char *const *strings;
	const struct fake_sample *samples;
	size_t sample_count;
	unsigned threads;
	bool sums_early; /* what tally_session_sums_early() says */
	unsigned runs;   /* calls of tally_session_run_wanted() */
	struct tally_session_counts counts;
	uint32_t unwind_most, stack_most;
};

/* One event "cpu-clock" that has chains and periods. */
void fake_session_init(struct tally_session *session);

#endif
