/* Records in the order in which perf delivers them, in batches, and sinks that take these.
 *
 * Batches are read by several threads at once.  What a sink makes of each it keeps by the batch's
 * slot, and it is asked for that in order.
 *
 * The order is perf's: records with a time are queued, FINISHED_ROUND n delivers what is not
 * younger than the youngest record seen up to round n-1, the end of the file delivers the rest;
 * equal times keep the order of the file; records without a time (none, 0 or ~0) keep their place
 * in the file.  Directories have no rounds.  All is in file order when not every event records
 * times, or when the first one's samples have them and its other records do not (streams aside).
 * Source: the perf.data format, and perf 6.1's behaviour.  How it is done, and how much memory it
 * takes: order.h. */
#ifndef TALLY_SESSION_RECORD_SINK_H
#define TALLY_SESSION_RECORD_SINK_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/session.h>
#include "resolve/resolve.h"
#include "session/run.h"

enum tally_entry_kind {
	TALLY_ENTRY_SAMPLE,
	TALLY_ENTRY_RECORD, /* of any other type */
	TALLY_ENTRY_TOKENS, /* samples, by the sink's token for each */
};

/* What the session's filter and its test made of a sample. */
enum tally_dropped {
	TALLY_KEPT,
	TALLY_DROPPED,
	TALLY_DROPPED_EARLY, /* by the filter, before it knew what the sink leaves out */
};

struct tally_entry {
	enum tally_entry_kind kind;
	enum tally_dropped dropped;
	bool lasts; /* what the sample points to stays until the batch ends */
	/* The sample.  Of another record its event (0 when that is unknown), the name and space of
	 * its thread, and in at->sample the fields of its trailer: present says which of tid, time,
	 * id and cpu it has.  NULL: a dropped sample, which the sink did not ask for, with text. */
	const struct tally_resolved *at;
	struct tally_record record;
	/* What the filter printed at this sample: `size` bytes, the first `early` of them before it
	 * knew what the sink leaves out. */
	const uint8_t *text;
	size_t early, size;
	/* TALLY_ENTRY_TOKENS, of which nothing else is set; the highest bit means nothing. */
	const uint64_t *tokens;
	size_t token_count;
};

/* A batch. */
struct tally_record_batch {
	unsigned worker; /* number of the thread that reads it, below tally_session_threads() */
	/* Of the results: below tally_session_slots(), used by one thread at a time, from the first
	 * entry until the sink's take() has returned. */
	unsigned slot;
	struct tally_resolver *resolver; /* the worker's */
};

/* The next entry, borrowed until the next call: 1; 0 at the end; -errno. */
int tally_record_batch_next(struct tally_record_batch *batch, struct tally_entry *ret);

/* Which samples a sink leaves out by itself.  A filter's late part is not asked about them. */
struct tally_own_filter {
	void *context;
	/* Whatever its thread is; or NULL. */
	bool (*skips)(void *context, const struct tally_resolved *sample);
	/* For what it is: TALLY_FILTERED_* bits (filter.h); or NULL. */
	unsigned (*filtered)(void *context, struct tally_resolver *resolver,
			     const struct tally_resolved *sample);
};

struct tally_record_sink {
	void *context;
	uint64_t want; /* PERF_SAMPLE_* fields to read of samples, those that an event has */
	/* What it takes: samples, those that the filter and the test drop too, other records, and
	 * the filter's text (else that goes to stdout at once). */
	bool samples, dropped, records, text;
	/* It asks the filter and the test itself. */
	bool asks;
	/* Reads a batch, on any thread.  Above 0: the run ends behind what was read; -errno. */
	int (*batch)(void *context, struct tally_record_batch *batch);
	/* Takes what was made of the batch with this slot; or NULL.  In order, one at a time, on
	 * any thread.  0 or -errno. */
	int (*take)(void *context, unsigned slot);
	/* Or NULL: nothing is shown of samples but where they were, whatever their event.  What is
	 * shown of an address in an era, which is of a process or of the kernel, kept in a number
	 * below 2^63; 0: the sample is an entry of its own.  Asked while the samples of the batch
	 * are put in order, in the order of the file: this saves another look at each. */
	uint64_t (*token)(void *context, const struct tally_record_batch *batch, uint32_t era,
			  uint64_t addr);
	struct tally_own_filter own; /* used on the caller's thread */
};

/* Gives all records to the sink.  As many workers as tally_session_threads(), or the caller's
 * thread alone when `serial`, in order then.  0; -ECANCELED; -errno of the sink or of reading. */
int tally_session_run_in_order(struct tally_session *session, const struct tally_record_sink *sink,
			       bool serial, struct tally_error *error);

#endif
