#include "profile/call_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/param.h>
#include "base/pool.h"
#include "base/table.h"
#include "resolve/stacks.h"
#include "session/numbers.h"
#include "session/run.h"

/* A node while the tree is made, parents before children.  The frame's highest bit: unshown. */
struct raw_node {
	uint32_t parent, frame;
	/* The size of its run, then the end of what is free of it: its last child goes there.  When
	 * all children have their places, that is right behind the node itself. */
	uint32_t end;
};
#define UNSHOWN    (1U << 31)
#define NODES_MOST (UINT32_MAX >> 2)
/* Sums lead all over the memory: what is soon read was fetched before. */
#define AHEAD     12U
#define RUN_TRIED 8U /* stacks of a run that are looked at for its caller */
/* Nodes that a thread puts in their places at a time. */
#define SHARE 65536U

struct making {
	const struct tally_stacks *stacks;
	struct raw_node *nodes;
	uint32_t count, room;
	uint32_t *known;   /* by stack: its node + 1 in the last context that has it */
	struct new_stack { /* those without a node so far, innermost first */
		uint32_t number, frame;
	} * path;
	uint32_t path_room;
	struct tally_call_node *placed;
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
	return array_reach(&making->path, &making->path_room, depth, 256, sizeof(*making->path));
}

static uint32_t add(struct making *making, uint32_t parent, uint32_t frame)
{
	making->nodes[making->count] =
	    (struct raw_node){.parent = parent, .frame = frame, .end = 1};
	return making->count++;
}

/* The node of a stack below the context's; those of its callers are made with it.  0: out of
 * memory. */
static uint32_t stack_node(struct making *making, uint32_t context, uint32_t number)
{
	uint32_t depth = 0, node = context;

	while (number) {
		uint64_t stack;

		if (making->known[number] > context) {
			node = making->known[number] - 1;
			break;
		}
		if (!path_room(making, depth))
			return 0;
		stack = stacks_node(making->stacks, number);
		making->path[depth++] = (struct new_stack){number, (uint32_t)stack};
		number = (uint32_t)(stack >> 32);
	}
	if (!make_room(making, depth + 2)) /* and one that is unshown, and a context */
		return 0;
	while (depth) {
		node = add(making, node, making->path[--depth].frame);
		making->known[making->path[depth].number] = node + 1;
	}
	return node;
}

static void fetch_stack(const struct making *making, uint32_t stack)
{
	__builtin_prefetch(&making->known[stack], 1);
	stacks_fetch(making->stacks, stack);
}

/* Fetches a stack and, once that is there, the one that its run begins below: in a run each stack
 * is right behind its caller (resolve/stacks.h). */
static void fetch(const struct making *making, const struct tally_call_sums *sums,
		  const uint32_t *order, uint32_t at)
{
	if (at + 2 * AHEAD < sums->count)
		__builtin_prefetch(&sums->list[order[at + 2 * AHEAD]]);
	if (at + AHEAD < sums->count)
		fetch_stack(making, sums->list[order[at + AHEAD]].stack);
	if (at + AHEAD / 2 < sums->count) {
		uint32_t stack = sums->list[order[at + AHEAD / 2]].stack, caller = stack;

		for (unsigned i = 0; i < RUN_TRIED && caller == stack - i; i++)
			caller = stacks_caller(making->stacks, caller);
		fetch_stack(making, caller);
	}
}

/* All nodes of the sums, which are taken in the order of their contexts.  Their stacks are nodes
 * then. */
static int make_nodes(struct making *making, struct tally_call_sums *sums, const uint32_t *order)
{
	uint32_t context = 0, last = UINT32_MAX;

	/* Mostly one context has nearly all; what is not written takes no memory. */
	if (!make_room(making, MIN(stacks_count(making->stacks), NODES_MOST / 2) + 2))
		return -ENOMEM;
	add(making, 0, 0);
	for (uint32_t i = 0; i < sums->count; i++) {
		struct tally_call_sum *sum = &sums->list[order[i]];
		uint32_t node;

		fetch(making, sums, order, i);
		if (sum->context != last)
			context = add(making, 0, sum->context);
		last = sum->context;
		node = stack_node(making, context, sum->stack);
		if (!node)
			return -ENOMEM;
		if (!sum->stack || stacks_frame(making->stacks, sum->stack) != sum->frame)
			node = add(making, node, sum->frame | UNSHOWN);
		sum->stack = node;
	}
	return 0;
}

/* Where a node is in preorder, once all have their places. */
static uint32_t place_of(const struct raw_node *node)
{
	return node->end - 1;
}

static int place_share(void *context, unsigned thread, size_t share)
{
	const struct making *making = context;
	uint32_t from = (uint32_t)share * SHARE, until = from + SHARE;

	(void)thread;
	for (uint32_t i = from; i < until && i < making->count; i++) {
		const struct raw_node *node = &making->nodes[i];

		making->placed[place_of(node)] = (struct tally_call_node){
		    .parent = place_of(&making->nodes[node->parent]),
		    .frame = node->frame & ~UNSHOWN,
		    .size = 1,
		    .unshown = (node->frame & UNSHOWN) != 0,
		};
	}
	return 0;
}

/* Gives each node its place in preorder. */
static int place_nodes(struct making *making, unsigned threads)
{
	struct raw_node *nodes = making->nodes;
	uint32_t count = making->count;

	making->placed = array_new((size_t)count + 1, sizeof(*making->placed));
	if (!making->placed)
		return -ENOMEM;
	making->placed[count] = (struct tally_call_node){0};
	for (uint32_t i = count - 1; i > 0; i--) {
		if (i > AHEAD)
			__builtin_prefetch(&nodes[nodes[i - AHEAD].parent], 1);
		nodes[nodes[i].parent].end += nodes[i].end;
	}
	for (uint32_t i = 1; i < count; i++) {
		uint32_t size = nodes[i].end, *end = &nodes[nodes[i].parent].end;

		if (i + AHEAD < count)
			__builtin_prefetch(&nodes[nodes[i + AHEAD].parent], 1);
		nodes[i].end = *end;
		*end -= size;
	}
	return tally_pool_run(threads, (count + SHARE - 1) / SHARE, place_share, making);
}

/* What ends in each node.  `counts`, if any, have the samples of each at twice its number. */
static void put_sums(const struct making *making, const struct tally_call_sums *sums,
		     uint64_t *counts)
{
	for (uint32_t i = 0; i < sums->count; i++) {
		const struct tally_call_sum *sum = &sums->list[i];
		uint32_t place = place_of(&making->nodes[sum->stack]);
		struct tally_call_node *node = &making->placed[place];

		if (i + AHEAD < sums->count)
			__builtin_prefetch(&making->nodes[sum[AHEAD].stack]);
		if (i + AHEAD / 2 < sums->count)
			__builtin_prefetch(
			    &making->placed[place_of(&making->nodes[sum[AHEAD / 2].stack])], 1);
		node->from_here += sum->self;
		node->ends = true;
		if (counts)
			counts[2 * (size_t)place] += sum->samples;
		else
			node->samples += sum->samples;
	}
}

/* Sizes of runs, and sums of all from each node on. */
static void sum_up(struct tally_call_tree *tree)
{
	struct tally_call_node *nodes = tree->nodes;
	uint64_t sum = 0;

	for (uint32_t i = tree->count; i-- > 0;) {
		sum += nodes[i].from_here;
		nodes[i].from_here = sum;
		if (i)
			nodes[nodes[i].parent].size += nodes[i].size & NODES_MOST;
	}
	if (!tree->samples)
		return;
	for (uint32_t i = 0; i < tree->count; i++)
		tree->samples[2 * (size_t)i + 1] = tree->samples[2 * (size_t)i];
	for (uint32_t i = tree->count; i-- > 1;)
		tree->samples[2 * (size_t)nodes[i].parent + 1] += tree->samples[2 * (size_t)i + 1];
}

static bool fit_nodes(const struct tally_call_sums *sums)
{
	uint64_t samples = 0;

	for (uint32_t i = 0; i < sums->count; i++)
		samples += sums->list[i].samples;
	return samples <= UINT32_MAX;
}

int tally_call_tree_make(struct tally_call_sums *sums, const struct tally_session *session,
			 uint32_t contexts, bool samples, struct tally_call_tree *ret)
{
	struct making making = {.stacks = tally_session_stacks(session)};
	uint32_t *order = NULL;
	uint64_t *counts = NULL;
	int result = tally_call_sums_order(sums, contexts, &order);

	making.known = table_new((size_t)stacks_count(making.stacks) + 1, sizeof(*making.known));
	if (!making.known)
		result = -ENOMEM;
	if (!result)
		result = make_nodes(&making, sums, order);
	free(order);
	free(making.known);
	free(making.path);
	if (!result)
		result = place_nodes(&making, tally_session_threads(session));
	if (!result && (samples || !fit_nodes(sums))) {
		counts = calloc(making.count, 2 * sizeof(*counts));
		result = counts ? 0 : -ENOMEM;
	}
	if (!result)
		put_sums(&making, sums, counts);
	tally_call_sums_done(sums);
	free(making.nodes);
	if (result) {
		free(making.placed);
		return result;
	}
	*ret = (struct tally_call_tree){
	    .nodes = making.placed, .samples = counts, .count = making.count};
	sum_up(ret);
	return 0;
}

int tally_call_tree_keep_frames(struct tally_call_tree *tree)
{
	tree->frames = calloc((size_t)tree->count + 1, sizeof(*tree->frames));
	for (uint32_t i = 0; tree->frames && i < tree->count; i++)
		tree->frames[i] = tree->nodes[i].frame;
	return tree->frames ? 0 : -ENOMEM;
}

void tally_call_tree_done(struct tally_call_tree *tree)
{
	free(tree->nodes);
	free(tree->samples);
	free(tree->frames);
	*tree = (struct tally_call_tree){0};
}
