#include "profile/settled.h"

#include <errno.h>
#include <stdlib.h>

int tally_settled_make(struct tally_calls *calls, struct tally_settled *ret)
{
	const struct tally_call_key *from = calls->keys;
	uint32_t count = calls->count;
	uint32_t *size, *place, *next;
	struct tally_settled_node *to;

	tally_calls_finish(calls);
	if (count > UINT32_MAX >> 2)
		return -ENOMEM;
	size = malloc(count * sizeof(*size));
	place = malloc(count * sizeof(*place));
	next = malloc(count * sizeof(*next)); /* where a node's next child will stand */
	if (!size || !place || !next) {
		free(size);
		free(place);
		free(next);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		size[i] = 1;
	for (uint32_t i = count - 1; i > 0; i--) /* children before parents */
		size[from[i].parent] += size[i];
	place[0] = 0;
	next[0] = 1;
	for (uint32_t i = 1; i < count; i++) { /* parents before children */
		uint32_t parent = from[i].parent;

		place[i] = next[parent];
		next[parent] += size[i];
		next[i] = place[i] + 1;
	}
	free(next);
	to = malloc(count * sizeof(*to));
	if (!to) {
		free(size);
		free(place);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		to[place[i]] = (struct tally_settled_node){
		    .parent = place[from[i].parent],
		    .frame = from[i].frame & ~TALLY_CALL_UNSHOWN,
		    .row = TALLY_NO_ROW,
		    .size = size[i] & (UINT32_MAX >> 2),
		    .ends = calls->sums[i].samples > 0,
		    .unshown = (from[i].frame & TALLY_CALL_UNSHOWN) != 0,
		    .self = calls->sums[i].self,
		    .samples = calls->sums[i].samples,
		};
	free(size);
	free(place);
	tally_calls_done(calls);
	*ret = (struct tally_settled){.nodes = to, .count = count};
	return 0;
}

void tally_settled_sum(struct tally_settled *settled)
{
	struct tally_settled_node *nodes = settled->nodes;

	for (uint32_t i = 0; i < settled->count; i++)
		nodes[i].total = nodes[i].self;
	for (uint32_t i = settled->count; i-- > 1;)
		nodes[nodes[i].parent].total += nodes[i].total;
}

void tally_settled_done(struct tally_settled *settled)
{
	free(settled->nodes);
	*settled = (struct tally_settled){0};
}
