#include "record/look.h"

#include <stdlib.h>
#include <string.h>
#include "stacks/unwinder.h"

void tally_look_done(struct tally_look *look)
{
	free(look->seen);
	*look = (struct tally_look){0};
}

static void look_at(struct tally_look *look, struct tally_drain *drain, size_t index)
{
	struct tally_ring_bytes bytes;
	size_t total = tally_ring_peek(drain->set->rings[index], &bytes);

	if (look->seen[index] < total)
		tally_walk_mappings(&drain->walk, &bytes, look->seen[index]);
	look->seen[index] = total;
}

void tally_look(struct tally_look *look, struct tally_drain *drain)
{
	size_t count = drain->set->ring_count;

	if (!look->seen)
		look->seen = calloc(count, sizeof(*look->seen));
	if (!look->seen)
		return;
	/* A pass empties these rings. */
	if (look->at_least != drain->passes)
		memset(look->seen, 0, count * sizeof(*look->seen));
	look->at_least = drain->passes;
	for (size_t i = 0; i < count; i++)
		if (i % TALLY_RING_KINDS == TALLY_RING_SIDEBAND && drain->set->rings[i])
			look_at(look, drain, i);
}
