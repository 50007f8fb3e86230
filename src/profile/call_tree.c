#include "profile/call_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <tally/batch.h>
#include "base/table.h"

/* A node while the tree is made, parents before children.  The frame's highest bit: unshown. */
struct raw_node {
	uint32_t parent, frame;
};
#define UNSHOWN    (1U << 31)
#define NODES_MOST (UINT32_MAX >> 2)

struct making {
	const struct tally_session *session;
	struct raw_node *nodes;
	uint32_t count, room;
	uint32_t *known;   /* by stack: its node + 1 in the last context that has it */
	uint32_t *node_of; /* by sum: where it ends */
	struct new_stack { /* those without a node so far, innermost first */
		uint32_t number, frame;
	} * path;
	uint32_t path_room;
};

static bool make_room(struct making *making, uint32_t more)
{
	uint64_t room = making->room ? making->room : 1024;

	while (room - making->count < more)
		room += room / 2;
	if (room == making->room)
		return true;
	if (room > NODES_MOST || !array_resize(&making->nodes, room, sizeof(*making->nodes)))
		return false;
	making->room = (uint32_t)room;
	return true;
}

static bool path_room(struct making *making, uint32_t depth)
{
	uint32_t room = making->path_room ? making->path_room * 2 : 256;

	if (depth < making->path_room)
		return true;
	if (!room || !array_resize(&making->path, room, sizeof(*making->path)))
		return false;
	making->path_room = room;
	return true;
}

static uint32_t add(struct making *making, uint32_t parent, uint32_t frame)
{
	making->nodes[making->count] = (struct raw_node){.parent = parent, .frame = frame};
	return making->count++;
}

/* The node of a stack below the context's; those of its callers are made with it.  0: out of
 * memory. */
static uint32_t stack_node(struct making *making, uint32_t context, uint32_t number)
{
	struct tally_stack stack;
	uint32_t depth = 0, node = context;

	for (; number; number = stack.caller) {
		if (making->known[number] > context) {
			node = making->known[number] - 1;
			break;
		}
		if (!path_room(making, depth) ||
		    tally_session_stack(making->session, number, &stack))
			return 0;
		making->path[depth++] = (struct new_stack){number, stack.frame};
	}
	if (!make_room(making, depth + 2)) /* and one that is unshown, and a context */
		return 0;
	while (depth) {
		node = add(making, node, making->path[--depth].frame);
		making->known[making->path[depth].number] = node + 1;
	}
	return node;
}

/* All nodes of the sums, which are taken in the order of their contexts. */
static int make_nodes(struct making *making, const struct tally_call_sums *sums,
		      const uint32_t *order)
{
	uint32_t context = 0, last = UINT32_MAX;

	if (!make_room(making, 2))
		return -ENOMEM;
	add(making, 0, 0);
	for (uint32_t i = 0; i < sums->count; i++) {
		const struct tally_call_sum *sum = &sums->list[order[i]];
		struct tally_stack stack = {0};
		uint32_t node;

		if (sum->context != last)
			context = add(making, 0, sum->context);
		last = sum->context;
		node = stack_node(making, context, sum->stack);
		if (!node)
			return -ENOMEM;
		if (sum->stack)
			tally_session_stack(making->session, sum->stack, &stack);
		if (!sum->stack || stack.frame != sum->frame)
			node = add(making, node, sum->frame | UNSHOWN);
		making->node_of[order[i]] = node;
	}
	return 0;
}

/* Gives each node its place in preorder, and so the tree. */
static int place_nodes(const struct making *making, struct tally_call_tree *ret)
{
	const struct raw_node *from = making->nodes;
	uint32_t count = making->count;
	uint32_t *size = malloc(count * sizeof(*size)), *place = malloc(count * sizeof(*place));
	uint32_t *next = malloc(count * sizeof(*next)); /* where a node's next child will be */
	struct tally_call_node *to = NULL;

	if (size && place && next) {
		for (uint32_t i = 0; i < count; i++)
			size[i] = 1;
		for (uint32_t i = count - 1; i > 0; i--)
			size[from[i].parent] += size[i];
		place[0] = 0;
		next[0] = 1;
		for (uint32_t i = 1; i < count; i++) {
			uint32_t parent = from[i].parent;

			place[i] = next[parent];
			next[parent] += size[i];
			next[i] = place[i] + 1;
		}
		to = malloc(count * sizeof(*to));
	}
	for (uint32_t i = 0; to && i < count; i++)
		to[place[i]] = (struct tally_call_node){
		    .parent = place[from[i].parent],
		    .frame = from[i].frame & ~UNSHOWN,
		    .row = TALLY_NO_ROW,
		    .size = size[i] & NODES_MOST,
		    .unshown = (from[i].frame & UNSHOWN) != 0,
		};
	free(size);
	free(next);
	*ret = (struct tally_call_tree){.nodes = to, .count = count};
	/* Sums find their nodes by it. */
	for (uint32_t i = 0; to && i < count; i++)
		making->nodes[i].parent = place[i];
	free(place);
	return to ? 0 : -ENOMEM;
}

int tally_call_tree_make(struct tally_call_sums *sums, const struct tally_session *session,
			 uint32_t contexts, struct tally_call_tree *ret)
{
	struct making making = {.session = session};
	struct tally_call_tree tree = {0};
	uint32_t *order = NULL;
	int result = tally_call_sums_order(sums, contexts, &order);

	making.known =
	    calloc((size_t)tally_session_stack_count(session) + 1, sizeof(*making.known));
	making.node_of = malloc(((size_t)sums->count + 1) * sizeof(*making.node_of));
	if (!making.known || !making.node_of)
		result = -ENOMEM;
	if (!result)
		result = make_nodes(&making, sums, order);
	free(order);
	free(making.known);
	free(making.path);
	if (!result)
		result = place_nodes(&making, &tree);
	for (uint32_t i = 0; !result && i < sums->count; i++) {
		struct tally_call_node *node = &tree.nodes[making.nodes[making.node_of[i]].parent];

		node->self += sums->list[i].self;
		node->samples += sums->list[i].samples;
		node->ends = true;
	}
	free(making.nodes);
	free(making.node_of);
	tally_call_sums_done(sums);
	if (!result)
		*ret = tree;
	return result;
}

void tally_call_tree_sum(struct tally_call_tree *tree)
{
	struct tally_call_node *nodes = tree->nodes;

	for (uint32_t i = 0; i < tree->count; i++)
		nodes[i].total = nodes[i].self;
	for (uint32_t i = tree->count; i-- > 1;)
		nodes[nodes[i].parent].total += nodes[i].total;
}

void tally_call_tree_done(struct tally_call_tree *tree)
{
	free(tree->nodes);
	*tree = (struct tally_call_tree){0};
}
