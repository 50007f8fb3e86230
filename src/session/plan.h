/* What is read of the samples of one event: wire/sample_read.h does it. */
#ifndef TALLY_SESSION_PLAN_H
#define TALLY_SESSION_PLAN_H

#include <stdbool.h>
#include <tally/record.h>
#include "session/unwinding.h"
#include "wire/sample_read.h"

struct event_plan {
	const struct tally_layout *layout;
	uint64_t want;         /* of the fields asked for, those that it has; TID and TIME always */
	enum plan_chain chain; /* how the chain is completed, when it is wanted */
};

struct tally_session;

/* One for each event, for the fields of `want` (PERF_SAMPLE_*); for free().  NULL: out of memory.
 */
struct event_plan *tally_session_plans(const struct tally_session *session, uint64_t want);

/* Reads the wanted fields; false when the record does not hold them.  The address is 0 when it is
 * not wanted, the time when it is not recorded. */
static inline bool plan_read(const struct event_plan *plan, const struct tally_record *record,
			     struct tally_sample *sample)
{
	sample->ip = 0;
	return sample_read(plan->layout, record, plan->want | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
			   sample);
}

#endif
