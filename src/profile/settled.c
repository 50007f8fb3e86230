#include "profile/settled.h"

#include <errno.h>
#include <stdlib.h>
#include "base/pool.h"

#define PIECE (1u << 16) /* nodes that a thread takes at a time */

struct moving {
	const struct tally_calls *calls;
	const uint32_t *size, *place; /* by number in `calls` */
	struct tally_settled_node *to;
};

static int move_piece(void *context, unsigned thread, size_t piece)
{
	const struct moving *moving = context;
	const struct tally_calls *calls = moving->calls;
	uint32_t first = (uint32_t)piece * PIECE;
	uint32_t end = calls->count - first > PIECE ? first + PIECE : calls->count;

	(void)thread;
	for (uint32_t i = first; i < end; i++) {
		const struct tally_call_key *from = &calls->keys[i];
		const struct tally_call_sum *sum = &calls->sums[i];

		moving->to[moving->place[i]] = (struct tally_settled_node){
		    .parent = moving->place[from->parent],
		    .frame = from->frame & ~TALLY_CALL_UNSHOWN,
		    .row = TALLY_NO_ROW,
		    .size = moving->size[i] & (UINT32_MAX >> 2),
		    .ends = sum->samples > 0,
		    .unshown = (from->frame & TALLY_CALL_UNSHOWN) != 0,
		    .self = sum->self,
		    .samples = sum->samples,
		};
	}
	return 0;
}

int tally_settled_make(struct tally_calls *calls, unsigned threads, struct tally_settled *ret)
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
	tally_pool_run(threads, (count + PIECE - 1) / PIECE, move_piece,
		       &(struct moving){.calls = calls, .size = size, .place = place, .to = to});
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
