/* What came lately of a stream that is read while it grows, kept as it came, so that it can be
 * written to a file: the newest samples, and of the older records those that describe processes
 * which the newest samples may be of.
 *
 * Memory is bounded: the samples by what was asked for, the other records by the processes that
 * live and their maps, at most twice that and RECENT_SPARE. */
#ifndef TALLY_RECENT_RECENT_RECORDS_H
#define TALLY_RECENT_RECENT_RECORDS_H

#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"

struct perf_event_header;

#define RECENT_SPARE ((size_t)1 << 20)

struct recent_records {         /* all zero keeps nothing */
	size_t most;            /* bytes of records that are kept whatever they say */
	struct tally_buf sides; /* of older records: those of processes that may still live */
	size_t sides_least;     /* bytes of `sides` when it was last cleared of the others */
	struct tally_buf older, newer; /* all records, half of the bytes each */
};

/* Keeps a whole record of the kernel, or the end of a round. */
void tally_recent_add(struct recent_records *recent, const struct perf_event_header *header);
/* Adds what is kept to `to`, in the order in which it came.  0 or -ENOMEM. */
int tally_recent_copy(const struct recent_records *recent, struct tally_buf *to);
void tally_recent_done(struct recent_records *recent);

#endif
