/* The finished call tree: nodes in preorder, so that what is below a node is the run behind it.
 *
 * Children of node n: n + 1, then each behind the last one's run.  Sums, rows and trees are then
 * straight walks through the array. */
#ifndef TALLY_PROFILE_SETTLED_H
#define TALLY_PROFILE_SETTLED_H

#include <stdint.h>
#include "profile/calls.h"

#define TALLY_NO_ROW UINT32_MAX

struct tally_settled_node {
	uint32_t parent;
	uint32_t frame;       /* contexts (below node 0): the context's number */
	uint32_t row;         /* the row it belongs to; TALLY_NO_ROW for node 0 and contexts */
	uint32_t size : 30;   /* nodes of its run, itself included */
	uint32_t ends : 1;    /* samples end in it */
	uint32_t unshown : 1; /* TALLY_CALL_UNSHOWN */
	uint64_t self;        /* period spent in it */
	union {
		uint64_t total;   /* with all below, once tally_settled_sum() was called */
		uint64_t samples; /* until then: how many end here */
	};
};

struct tally_settled {
	struct tally_settled_node *nodes;
	uint32_t count;
};

/* Takes the nodes out of `calls`, which is empty then, by so many threads.  0 or -ENOMEM. */
int tally_settled_make(struct tally_calls *calls, unsigned threads, struct tally_settled *ret);
void tally_settled_sum(struct tally_settled *settled);
void tally_settled_done(struct tally_settled *settled);

#endif
