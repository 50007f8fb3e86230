/* What a worker reads batches with, and where the parts of a batch come from. */
#ifndef TALLY_SESSION_RECORD_BATCH_H
#define TALLY_SESSION_RECORD_BATCH_H

#include "resolve/event_fields.h"
#include "session/filter_stage.h"
#include "source/order.h"
#include "session/record_sink.h"
#include "resolve/resolver.h"
#include "source/time_windows.h"

struct record_worker {
	struct tally_record_batch batch; /* the first member */
	const struct tally_record_sink *sink;
	const struct event_fields *events;
	const struct tally_sample_test *test; /* NULL: the sink asks it itself, or there is none */
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
