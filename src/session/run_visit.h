/* The second pass for who wants of samples only their ip, thread and period: they are read where
 * they stand, and shown in runs. */
#ifndef TALLY_SESSION_RUN_VISIT_H
#define TALLY_SESSION_RUN_VISIT_H

#include "session/by_address.h"
#include "session/early_visit.h"
#include "resolve/event_fields.h"

/* Called for each run; as tally_sample_fn. */
typedef int (*tally_run_fn)(void *context, unsigned worker, struct tally_resolver *resolver,
			    const struct tally_sample_run *run);

struct run_visit {
	const struct tally_session *session;
	const struct event_fields *events;
	const struct early_visit *early; /* NULL: all samples; else those that are read again */
	tally_run_fn show;               /* NULL: samples cannot be shown so */
	void *context;
};

/* 0, or what `show` gave. */
int tally_run_visit_piece(const struct run_visit *visit, const struct source_piece *piece,
			  unsigned worker, struct tally_resolver *resolver);

#endif
