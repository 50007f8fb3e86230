#include "recorder/trigger.h"

int tally_trigger_open(const struct tally_recorder_options *options,
		       const struct tally_event_list *events, const struct tally_limits *limits,
		       const struct tally_targets *targets, const struct tally_notice *notice,
		       struct tally_trigger *ret, struct tally_error *error)
{
	struct tally_recorder_options own = {
	    .size = sizeof(own), .events = events, .period = 1, .no_inherit = options->no_inherit};
	const struct tally_ring_sizes sizes = {.pages = {1, 1}};
	int result = tally_plan_make(&own, limits, targets, notice, &ret->plan, error);

	if (result)
		return result;
	for (size_t i = 0; i + 1 < ret->plan.count; i++)
		ret->plan.events[i].attr.wakeup_events = 1;
	result = tally_openset_open(&ret->set, targets, &ret->plan, limits, &sizes, notice, error);
	if (result)
		tally_plan_done(&ret->plan);
	return result;
}

void tally_trigger_close(struct tally_trigger *trigger)
{
	if (!trigger->plan.count)
		return;
	tally_openset_close(&trigger->set);
	tally_plan_done(&trigger->plan);
}

void tally_trigger_enable(const struct tally_trigger *trigger)
{
	if (trigger->plan.count)
		tally_openset_enable(&trigger->set, TALLY_RING_SAMPLES);
}

bool tally_trigger_hit(struct tally_trigger *trigger)
{
	bool hit = false;

	for (size_t i = TALLY_RING_SAMPLES; i < trigger->set.ring_count; i += TALLY_RING_KINDS) {
		struct tally_ring_bytes bytes;
		size_t total =
		    trigger->set.rings[i] ? tally_ring_peek(trigger->set.rings[i], &bytes) : 0;

		if (total)
			tally_ring_consume(trigger->set.rings[i], total);
		hit |= total != 0;
	}
	return hit;
}
