/* What is read of each event's samples. */
#ifndef TALLY_RESOLVE_EVENT_FIELDS_H
#define TALLY_RESOLVE_EVENT_FIELDS_H

#include <tally/record.h>
#include "resolve/unwinding.h"

struct tally_source;

struct event_fields {
	const struct tally_layout *layout;
	uint64_t want;
	enum plan_chain chain; /* how a chain is completed, when that is wanted */
};

/* One for each event, for the fields of `want` (PERF_SAMPLE_*); for free().  `branches`: branch
 * stacks belong to call chains.  NULL: out of memory. */
struct event_fields *tally_event_fields_new(const struct tally_source *source, uint64_t want,
					    bool branches);

#endif
