/* A session made up by a test: samples whose addresses are frame numbers. */
#ifndef TESTS_FAKE_SESSION_H
#define TESTS_FAKE_SESSION_H

#include <tally/data.h>
#include "session/resolve.h"

#define FAKE_DEPTH 64

struct fake_sample {
	uint32_t event, comm, pid, tid, cpu;
	uint64_t period;
	uint32_t depth;             /* 0: no chain, the place is chain[0] */
	uint64_t chain[FAKE_DEPTH]; /* innermost first; frame numbers */
	uint64_t ip;                /* 0: chain[0] */
};

struct tally_data {
	struct tally_data_event events[4];
	size_t event_count;
};

struct tally_resolver {
	uint32_t last[FAKE_DEPTH]; /* outermost first */
	uint32_t depth;
	const uint32_t *inlined_in;
};

struct tally_session {
	struct tally_data data;
	const struct tally_frame *frames; /* by number; 0 is not used */
	uint32_t frame_count;
	const char *const *strings;
	const struct fake_sample *samples;
	size_t sample_count;
	unsigned threads;
	bool lumps;      /* what tally_session_lumps() says of fields without chains */
	bool runs;       /* shows runs to who takes them */
	unsigned visits; /* calls of tally_session_visit() */
	struct tally_session_counts counts;
	const uint32_t *inlined_in; /* by frame: see struct tally_chain_frames; NULL: none is */
	uint32_t unwind_most;
};

/* One event "cpu-clock" that has chains and periods. */
void fake_session_init(struct tally_session *session);

#endif
