/* What a worker reads batches with, and where the parts of a batch come from. */
#ifndef TALLY_SESSION_RECORD_BATCH_H
#define TALLY_SESSION_RECORD_BATCH_H

#include "session/event_fields.h"
#include "session/filter_stage.h"
#include "session/order.h"
#include "session/record_sink.h"
#include "session/resolver.h"
#include "session/time_windows.h"

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

static inline const struct order_batch *record_worker_places(const struct record_worker *worker)
{
	return worker->filtered ? &worker->filtered->batch : &worker->places;
}

#endif
