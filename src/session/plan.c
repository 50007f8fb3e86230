#include "session/plan.h"

#include <stdlib.h>
#include "session/session.h"

static void make_plan(struct event_plan *plan, const struct tally_data_event *event, uint64_t want)
{
	const struct tally_layout *layout = &event->layout;
	enum plan_chain chain = PLAN_CHAIN_RECORDED;
	uint64_t more = 0;

	if (want & PERF_SAMPLE_CALLCHAIN)
		chain = tally_unwinding_of(&event->attr, &more);
	want |= more;
	*plan = (struct event_plan){
	    .layout = layout,
	    /* Comm and space need them. */
	    .want = layout->sample_type & (want | PERF_SAMPLE_TID | PERF_SAMPLE_TIME),
	    .chain = chain,
	};
}

struct event_plan *tally_session_plans(const struct tally_session *session, uint64_t want)
{
	struct event_plan *plans = calloc(session->event_count + 1, sizeof(*plans));

	for (size_t i = 0; plans && i < session->event_count; i++)
		make_plan(&plans[i], tally_data_event(session->data, i), want);
	return plans;
}
