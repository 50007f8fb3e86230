/* What a worker reads batches with, and where the parts of a batch come from. */
#ifndef TALLY_SESSION_RECORD_BATCH_H
#define TALLY_SESSION_RECORD_BATCH_H

#include "session/filter_stage.h"
#include "session/order.h"
#include "session/record_sink.h"
#include "session/resolver.h"
#include "session/time_windows.h"

/* What is read of an event's samples. */
struct event_fields {
	const struct tally_layout *layout;
	uint64_t want;
	enum plan_chain chain; /* how a chain is completed, when that is wanted */
};

struct record_worker {
	struct tally_record_batch batch; /* the first member */
	const struct tally_record_sink *sink;
	const struct event_fields *events;
	struct tally_resolver resolver;
	struct order_batch places;
	struct time_window window;
	const struct filtered_batch *filtered; /* in place of `places`; NULL: there is no filter */
	size_t at, texts;                      /* of the batch, those that were read */
	struct tally_resolved sample, other;
};

/* One for each event, for free().  NULL: out of memory. */
struct event_fields *tally_event_fields_new(const struct tally_session *session, uint64_t want);

static inline const struct order_batch *record_worker_places(const struct record_worker *worker)
{
	return worker->filtered ? &worker->filtered->batch : &worker->places;
}

#endif
