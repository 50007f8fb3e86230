/* What a reader needs to take tracepoints' raw bytes apart on another machine or later: the formats
 * that tracefs shows, in the shape of perf.data's TRACING_DATA feature. */
#ifndef TALLY_RECORD_TRACING_DATA_H
#define TALLY_RECORD_TRACING_DATA_H

#include <tally/error.h>
#include "base/buf.h"
#include "collect/event_plan.h"

/* The feature's payload for the tracepoints of the plan; empty when there are none.  `tracefs`
 * NULL: found among the usual places under root. */
int tally_tracing_data_make(const struct tally_plan *plan, const char *tracefs, const char *root,
			    struct tally_buf *ret, struct tally_error *error);

#endif
