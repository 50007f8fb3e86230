/* What a reader needs to decode the raw bytes of tracepoints on another machine or later: the
 * formats of tracefs, in the form of perf.data's TRACING_DATA feature. */
#ifndef TALLY_RECORD_TRACING_DATA_H
#define TALLY_RECORD_TRACING_DATA_H

#include <tally/error.h>
#include "base/buf.h"
#include "collect/event_plan.h"

/* The feature's payload for the tracepoints of the plan; empty without tracepoints. `tracefs` NULL:
 * found below `root`. */
int tally_tracing_data_make(const struct tally_plan *plan, const char *tracefs, const char *root,
			    struct tally_buf *ret, struct tally_error *error);

#endif
