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
	uint32_t frame; /* contexts (below node 0): the context's number */
	union {
		uint32_t samples; /* call_node_samples(), until rows are made */
		uint32_t row;     /* the row it belongs to; TALLY_NO_ROW for node 0 and contexts */
	};
	uint32_t size : 30; /* nodes of its run, itself included */
	uint32_t ends : 1;  /* samples end in it */
	/* Samples end in that frame's row, and its trees end with the parent: for what a chain
	 * lacks of its sample's place, and for functions that were inlined there (what they are
	 * part of counts, and they are shown). */
	uint32_t unshown : 1;
	uint64_t from_here; /* periods of it and all nodes behind it, which is 0 at the end */
};

struct tally_call_tree { /* all zero is empty and valid */
	struct tally_call_node *nodes;
	/* Samples of each node, if they were asked for or are too many for nodes: its own at twice
	 * its number, and behind that those with all below.  Else NULL. */
	uint64_t *samples;
	/* Of each node the frame as stacks have it, where trees are not of functions; else NULL. */
	uint32_t *frames;
	uint32_t count;
};

/* The period spent in a node of the tree, and with all below. */
static inline uint64_t call_node_self(const struct tally_call_node *node)
{
	return node->from_here - node[1].from_here;
}

static inline uint64_t call_node_total(const struct tally_call_node *node)
{
	return node->from_here - node[node->size].from_here;
}

/* How many samples end in a node; before rows are made. */
static inline uint64_t call_node_samples(const struct tally_call_tree *tree, uint32_t number)
{
	return tree->samples ? tree->samples[2 * (size_t)number] : tree->nodes[number].samples;
}

/* The tree of the sums, which are empty then; `samples`: with numbers of samples.  0 or -ENOMEM. */
int tally_call_tree_make(struct tally_call_sums *sums, const struct tally_session *session,
			 uint32_t contexts, bool samples, struct tally_call_tree *ret);
/* Keeps the frames of stacks: nodes will have places instead.  0 or -ENOMEM. */
int tally_call_tree_keep_frames(struct tally_call_tree *tree);
void tally_call_tree_done(struct tally_call_tree *tree);

#endif
