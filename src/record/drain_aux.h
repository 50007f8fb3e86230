/* Traces from AUX areas to the file. */
#ifndef TALLY_RECORD_DRAIN_AUX_H
#define TALLY_RECORD_DRAIN_AUX_H

#include "base/buf.h"
#include "collect/openset.h"
#include "write/writer.h"

struct tally_drain_aux {
	const struct tally_openset *set;
	struct tally_writer *writer;
	uint64_t bytes; /* of traces, written */
	bool running;   /* the trace's event is enabled: what the kernel stopped is started again */
};

/* Adds the records that come before all others: how the trace is decoded, and the clock.  Nothing
 * without a trace.  0 or -errno. */
int tally_drain_aux_describe(const struct tally_openset *set, struct tally_buf *to);

/* Appends what all areas hold now; of areas that are overwritten nothing.  After the rings were
 * read: so what their records describe is there.  0 or -errno with words. */
int tally_drain_aux_pass(struct tally_drain_aux *aux, struct tally_error *error);
/* Appends the newest of areas that are overwritten; of others nothing.  `last`: the trace is not
 * started again.  0 or -errno with words. */
int tally_drain_aux_snapshot(struct tally_drain_aux *aux, bool last, struct tally_error *error);

#endif
