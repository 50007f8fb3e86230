/* The call tree: nodes in preorder, so that what is below a node is the run behind it.
 *
 * Node 0 is above all; below it is a node for each context, and below that are its frames from the
 * outermost in.  Children of node n: n + 1, then each behind the last one's run.  Sums, rows and
 * trees are then straight walks through the array. */
#ifndef TALLY_PROFILE_CALL_TREE_H
#define TALLY_PROFILE_CALL_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include "profile/call_sums.h"

struct tally_session;

#define TALLY_NO_ROW UINT32_MAX

struct tally_call_node {
	uint32_t parent;
	uint32_t frame;     /* contexts (below node 0): the context's number */
	uint32_t row;       /* the row it belongs to; TALLY_NO_ROW for node 0 and contexts */
	uint32_t size : 30; /* nodes of its run, itself included */
	uint32_t ends : 1;  /* samples end in it */
	/* Samples end in that frame's row, and its trees end with the parent: for what a chain
	 * lacks of its sample's place, and for functions that were inlined there (what they are
	 * part of counts, and they are shown). */
	uint32_t unshown : 1;
	uint64_t self; /* period spent in it */
	union {
		uint64_t total;   /* with all below, once tally_call_tree_sum() was called */
		uint64_t samples; /* until then: how many end here */
	};
};

struct tally_call_tree { /* all zero is empty and valid */
	struct tally_call_node *nodes;
	/* Samples of each node, if they were asked for: its own at twice its number, and behind
	 * that those with all below.  NULL: not asked for. */
	uint64_t *samples;
	/* Of each node the frame as stacks have it, where trees are not of functions; else NULL. */
	uint32_t *frames;
	uint32_t count;
};

/* The tree of the sums, which are empty then; `samples`: with numbers of samples.  0 or -ENOMEM. */
int tally_call_tree_make(struct tally_call_sums *sums, const struct tally_session *session,
			 uint32_t contexts, bool samples, struct tally_call_tree *ret);
/* Keeps the frames of stacks: nodes will have places instead.  0 or -ENOMEM. */
int tally_call_tree_keep_frames(struct tally_call_tree *tree);
void tally_call_tree_sum(struct tally_call_tree *tree);
void tally_call_tree_done(struct tally_call_tree *tree);

#endif
