/* Samples added up by event, function and place. */
#ifndef TALLY_ANNOTATE_PLACE_SUMS_H
#define TALLY_ANNOTATE_PLACE_SUMS_H

#include <tally/annotate.h>

/* Of one place in one event. */
struct place_sum {
	uint64_t place, period, samples;
	uint32_t frame, event;
};

struct event_total {
	uint64_t samples, period;
};

struct place_sums {
	struct place_sum *sums; /* by frame, place, event */
	size_t count;
	struct event_total *totals; /* by event: of all samples in the chosen time and CPUs */
};

/* Runs the session.  For tally_place_sums_done().  As tally_annotation_new(). */
int tally_place_sums_make(struct tally_session *session,
			  const struct tally_annotation_options *options, struct place_sums *ret,
			  struct tally_error *error);
/* The same beside other sinks: make it, run the session with tally_place_sink() among its sinks,
 * and take the sums, once: 0 or -ENOMEM.  `options` is borrowed. */
struct place_sink;
int tally_place_sink_new(struct tally_session *session,
			 const struct tally_annotation_options *options, struct place_sink **ret,
			 struct tally_error *error);
const struct tally_sink *tally_place_sink(const struct place_sink *sink);
int tally_place_sink_sums(const struct place_sink *sink, struct place_sums *ret);
void tally_place_sink_free(struct place_sink *sink);
void tally_place_sums_done(struct place_sums *sums);

#endif
