#include "record/look.h"

#include <stdlib.h>
#include <sys/param.h>
#include "stacks/unwinder.h"

#define SAMPLES  40 /* of a thread, between two looks */
#define LEAST_MS 10
#define MOST_MS  100
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
	return (int)MIN(MAX(SAMPLES * MS_PER_S / highest, LEAST_MS), MOST_MS);
}

static void look_at(struct tally_drain *drain, size_t index)
{
	struct tally_ring_bytes bytes;
	size_t total = tally_ring_peek(drain->set->rings[index], &bytes);

	if (drain->looked[index] < total)
		tally_walk_mappings(&drain->walk, &bytes, drain->looked[index]);
	drain->looked[index] = total;
}

void tally_look(struct tally_drain *drain)
{
	size_t count = drain->set->ring_count;

	if (!drain->looked)
		drain->looked = calloc(count, sizeof(*drain->looked));
	if (!drain->looked)
		return;
	for (size_t i = 0; i < count; i++)
		if (i % TALLY_RING_KINDS == TALLY_RING_SIDEBAND && drain->set->rings[i])
			look_at(drain, i);
}
