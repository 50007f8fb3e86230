#include "record/look.h"

#include <stdlib.h>
#include <sys/param.h>
#include "kernel/ring_page.h"
#include "stacks/unwinder.h"

#define SAMPLES  40 /* of a thread, between two looks */
#define LEAST_MS 10
#define MS_PER_S 1000

int tally_look_interval(const struct tally_plan *plan)
{
	uint64_t highest = 0;

	for (size_t i = 0; i < tally_plan_sideband(plan); i++) {
		const struct tally_attr *attr = &plan->events[i].attr;

		if (!attr->freq && attr->sample_period)
			return LEAST_MS; /* nobody knows how often */
		if (attr->freq)
			highest = MAX(highest, attr->sample_freq);
	}
	if (!highest)
		return LEAST_MS;
	return (int)MIN(MAX(SAMPLES * MS_PER_S / highest, LEAST_MS), TALLY_LOOK_MOST_MS);
}

static enum tally_looked look_at(struct tally_drain *drain, size_t index)
{
	struct tally_ring *ring = drain->set->rings[index];
	struct tally_ring_bytes bytes;
	size_t total = tally_ring_peek(ring, &bytes), before = drain->looked[index];

	if (before < total)
		tally_walk_mappings(&drain->walk, &bytes, before);
	drain->looked[index] = total;
	if (total >= tally_ring_size(ring) / 2)
		return TALLY_LOOKED_FULL;
	return before < total ? TALLY_LOOKED_SOME : TALLY_LOOKED_NOTHING;
}

enum tally_looked tally_look(struct tally_drain *drain)
{
	size_t count = drain->set->ring_count;
	enum tally_looked most = TALLY_LOOKED_NOTHING;

	if (!drain->looked)
		drain->looked = calloc(count, sizeof(*drain->looked));
	if (!drain->looked)
		return TALLY_LOOKED_FULL;
	for (size_t i = TALLY_RING_SIDEBAND; i < count; i += TALLY_RING_KINDS)
		if (drain->set->rings[i])
			most = MAX(most, look_at(drain, i));
	return most;
}
