#include "session/plan.h"

#include <stdlib.h>
#include "session/session.h"

/* Fields that are read by their fixed offset, without the decoder. */
#define PLAIN_FIELDS \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

/* Fields that may stand next, one behind the other. */
#define VARIED_FIELDS (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)

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
	    .least = layout->variable_at,
	    .chain_at = -1,
	    .chain = chain,
	};
	plan->ip_at = plan->want & PERF_SAMPLE_IP ? layout->at[TALLY_FIXED_IP] : -1;
	plan->tid_at = layout->at[TALLY_FIXED_TID];
	plan->time_at = layout->at[TALLY_FIXED_TIME];
	plan->cpu_at = plan->want & PERF_SAMPLE_CPU ? layout->at[TALLY_FIXED_CPU] : -1;
	plan->period_at = plan->want & PERF_SAMPLE_PERIOD ? layout->at[TALLY_FIXED_PERIOD] : -1;
	if (plan->want & ~(uint64_t)(PLAIN_FIELDS | VARIED_FIELDS))
		plan->decode = true;
	/* READ, whose size varies, stands before CALLCHAIN, and that before RAW. */
	if (plan->want & VARIED_FIELDS) {
		if (layout->sample_type & PERF_SAMPLE_READ)
			plan->decode = true;
		else if (layout->sample_type & PERF_SAMPLE_CALLCHAIN)
			plan->chain_at = (int16_t)layout->variable_at;
		plan->raw = plan->want & PERF_SAMPLE_RAW;
	}
}

struct event_plan *tally_session_plans(const struct tally_session *session, uint64_t want)
{
	struct event_plan *plans = calloc(session->event_count + 1, sizeof(*plans));

	for (size_t i = 0; plans && i < session->event_count; i++)
		make_plan(&plans[i], tally_data_event(session->data, i), want);
	return plans;
}
