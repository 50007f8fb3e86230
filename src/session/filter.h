/* A filter, a test, or both, which drop samples between a session and its sinks.
 *
 * A filter decides sample by sample, in the order in which perf delivers them, and on one thread,
 * that of the run's caller, as filters of other authors may not support threads.  The rest of a run
 * uses its threads, which show the samples that passed.  A test needs neither the order nor one
 * thread. */
#ifndef TALLY_SESSION_FILTER_H
#define TALLY_SESSION_FILTER_H

#include "base/buf.h"
#include "resolve/resolver.h"
#include "session/record_sink.h"

/* Reasons for which a sample is not shown: bits, as perf has them for filters. */
#define TALLY_FILTERED_DSO    0x01U
#define TALLY_FILTERED_THREAD 0x02U
#define TALLY_FILTERED_SYMBOL 0x08U
#define TALLY_FILTERED_GUEST  0x10U
#define TALLY_FILTERED_HOST   0x20U

/* A sample that a filter is asked about. */
struct tally_filter_call {
	struct tally_resolver *resolver;
	const struct tally_record *record;
	struct tally_resolved *sample; /* joined with its thread once `joined` */
	const struct tally_own_filter *own;
	bool joined;
	/* The result of early(): whether it dropped the sample, and how much text it printed. */
	bool dropped_early;
	size_t early_text;
};

enum tally_filter_answer {
	TALLY_FILTER_KEEP,
	TALLY_FILTER_DROP,
	TALLY_FILTER_END, /* the run ends without an error; what came before is shown */
};

struct tally_sample_filter {
	void *context;
	/* Called before and after the sink's own filter; either may be NULL.  An enum
	 * tally_verdict, or -errno. */
	int (*early)(void *context, struct tally_filter_call *call);
	int (*late)(void *context, struct tally_filter_call *call);
	/* Text that it printed and that was not taken yet; the caller clears it.  Size 0: none. */
	struct tally_buf *(*text)(void *context);
	/* Prints that text to stdout, for sinks without text. */
	void (*print)(void *context);
};

/* All samples go through it from now on, with all fields that they have, until another, or NULL, is
 * set.  Borrowed. */
void tally_session_set_filter(struct tally_session *session,
			      const struct tally_sample_filter *filter);
const struct tally_sample_filter *tally_session_filter(const struct tally_session *session);

/* Whether a filter or a test stands before its sinks. */
bool tally_session_is_filtered(const struct tally_session *session);

/* The sample's thread, space and eras.  0 or -ENOMEM. */
static inline int filter_call_join(struct tally_filter_call *call)
{
	const struct tally_source *source = call->resolver->tables->source;
	struct tally_resolved *sample = call->sample;
	int result;

	if (call->joined)
		return 0;
	result = resolver_join(call->resolver, sample,
			       source->by_offset ? call->record->offset : sample->sample.time);
	call->joined = !result;
	return result;
}

/* Asks the filter and the sink's own filter about a sample: an enum tally_filter_answer or -errno.
 */
int tally_filter_ask(const struct tally_sample_filter *filter, struct tally_filter_call *call);

/* --- tests --- */

struct tally_sample_test {
	void *context;
	uint64_t want; /* PERF_SAMPLE_* fields that it looks at */
	/* 1: the sample passes; 0: it does not; -errno.  `worker`: 0..tally_session_threads(), one
	 * thread each at a time. */
	int (*passes)(void *context, unsigned worker, struct tally_resolver *resolver,
		      const struct tally_resolved *sample);
};

/* For all runs from now on.  Borrowed; NULL: none. */
void tally_session_set_test(struct tally_session *session, const struct tally_sample_test *test);
/* Takes it from the session and returns it; NULL: there was none. */
const struct tally_sample_test *tally_session_take_test(struct tally_session *session);
/* Whether a sample passes; for sinks that make samples of their own. */
int tally_session_test(const struct tally_session *session, unsigned worker,
		       struct tally_resolver *resolver, const struct tally_resolved *sample);

#endif
