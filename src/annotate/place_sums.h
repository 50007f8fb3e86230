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

/* Runs the session.  For place_sums_done().  As tally_annotation_new(). */
int tally_place_sums_make(struct tally_session *session,
			  const struct tally_annotation_options *options, struct place_sums *ret,
			  struct tally_error *error);
void tally_place_sums_done(struct place_sums *sums);

#endif
