/* A test of samples that needs neither their order nor one thread: what does not pass is not seen
 * by whatever visits the session. */
#ifndef TALLY_SESSION_TEST_H
#define TALLY_SESSION_TEST_H

#include "session/resolve.h"

struct tally_sample_test {
	void *context;
	uint64_t want; /* PERF_SAMPLE_* fields that it looks at */
	/* 1: the sample passes; 0: it does not; -errno.  `worker`: 0..tally_session_threads(), one
	 * thread each at a time. */
	int (*passes)(void *context, unsigned worker, struct tally_resolver *resolver,
		      const struct tally_resolved *sample);
};

/* For all visits from now on.  Borrowed; NULL: none. */
void tally_session_set_test(struct tally_session *session, const struct tally_sample_test *test);
/* Takes it from the session and returns it; NULL: there was none. */
const struct tally_sample_test *tally_session_take_test(struct tally_session *session);
/* Whether a sample passes; for visitors that have samples of their own. */
int tally_session_test(const struct tally_session *session, unsigned worker,
		       struct tally_resolver *resolver, const struct tally_resolved *sample);

/* A resolver of one's own, for chains beside those of the visitor, which is asked for names: all
 * places of an image that have none are one frame.  NULL: out of memory. */
struct tally_resolver *tally_resolver_new(struct tally_session *session);
void tally_resolver_free(struct tally_resolver *resolver);

#endif
