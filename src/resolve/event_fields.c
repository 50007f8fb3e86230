#include "resolve/event_fields.h"

#include <stdlib.h>
#include "source/source.h"

struct event_fields *tally_event_fields_new(const struct tally_source *source, uint64_t want,
					    bool branches)
{
	struct event_fields *events = calloc(source->event_count + 1, sizeof(*events));

	for (size_t i = 0; events && i < source->event_count; i++) {
		const struct tally_data_event *event = tally_data_event(source->data, i);
		uint64_t more = 0;

		if (want & PERF_SAMPLE_CALLCHAIN)
			events[i].chain = tally_unwinding_of(&event->attr, &more);
		if (want & PERF_SAMPLE_CALLCHAIN && branches)
			more |= PERF_SAMPLE_BRANCH_STACK;
		events[i].layout = &event->layout;
		/* Comm and space need the thread and the time. */
		events[i].want = want | more | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	}
	return events;
}
