#include "convert/stack_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "resolve/frames.h"
#include "resolve/resolve_tables.h"
#include "resolve/stacks.h"
#include "session/numbers.h"

struct stack_leaf {
	uint32_t stack, frame;
	uint32_t node; /* while the table is made: a raw node; then a node */
};

/* A node while the table is made, behind its caller. */
struct raw_node {
	uint32_t caller, frame; /* the session's frame; then its rank */
	uint32_t depth, rank;
};

struct making {
	struct stack_table *table;
	const struct tally_stacks *stacks;
	const struct tally_frames *frames;
	struct raw_node *nodes;
	uint32_t count, room;
	uint32_t *node_of; /* by stack of the session; 0: not met */
	uint32_t *path;
	uint32_t path_room;
};

void tally_stack_table_done(struct stack_table *table)
{
	free(table->frames);
	free(table->nodes);
	free(table->leaves);
	tally_map_done(&table->known);
	table->frames = NULL;
	table->nodes = NULL;
	table->leaves = NULL;
}

int64_t tally_stack_table_add(struct stack_table *table, uint32_t stack, uint32_t frame)
{
	bool added;
	uint64_t *number = tally_map_put(&table->known, (uint64_t)stack << 32 | frame, &added);

	if (!number)
		return -ENOMEM;
	if (added) {
		uint32_t room = array_room(table->leaf_room, table->leaf_count + 1, 1024);

		if (room != table->leaf_room &&
		    !array_resize(&table->leaves, room, sizeof(*table->leaves)))
			return -ENOMEM;
		table->leaf_room = room;
		table->leaves[table->leaf_count] =
		    (struct stack_leaf){.stack = stack, .frame = frame};
		*number = table->leaf_count++;
	}
	return (int64_t)*number;
}

/* --- nodes --- */

/* 0: out of memory. */
static uint32_t add_node(struct making *making, uint32_t caller, uint32_t frame)
{
	uint32_t room = array_room(making->room, making->count + 1, 1024);

	if (room != making->room && !array_resize(&making->nodes, room, sizeof(*making->nodes)))
		return 0;
	making->room = room;
	making->nodes[making->count] =
	    (struct raw_node){.caller = caller,
			      .frame = frame,
			      .depth = caller ? making->nodes[caller].depth + 1 : 1};
	return making->count++;
}

/* The node of a stack of the session, and those of its callers; 0: out of memory. */
static uint32_t stack_of(struct making *making, uint32_t stack)
{
	uint32_t depth = 0, node = 0;

	while (stack && !making->node_of[stack]) {
		uint32_t room = array_room(making->path_room, depth + 1, 256);

		if (room != making->path_room &&
		    !array_resize(&making->path, room, sizeof(*making->path)))
			return 0;
		making->path_room = room;
		making->path[depth++] = stack;
		stack = stacks_caller(making->stacks, stack);
	}
	if (stack)
		node = making->node_of[stack];
	while (depth) {
		uint32_t at = making->path[--depth];

		node = add_node(making, node, stacks_frame(making->stacks, at));
		if (!node)
			return 0;
		making->node_of[at] = node;
	}
	return node;
}

/* A chain that does not begin at the sampled place gets it: in place of its innermost frame when
 * that is in the same function, else as what it called. */
static int leaf_of(struct making *making, struct stack_leaf *leaf)
{
	uint32_t innermost = leaf->stack ? stacks_frame(making->stacks, leaf->stack) : 0;
	struct tally_frame_place chain = {0}, sampled = {0};
	uint32_t caller = leaf->stack;

	if (innermost && leaf->frame && !making->table->as_recorded) {
		tally_frames_placed(making->frames, innermost, &chain);
		tally_frames_placed(making->frames, leaf->frame, &sampled);
	}
	if (leaf->stack && (innermost == leaf->frame || making->table->as_recorded ||
			    (chain.image == sampled.image && chain.place == sampled.place))) {
		leaf->node = stack_of(making, leaf->stack);
		return leaf->node ? 0 : -ENOMEM;
	}
	if (!leaf->frame)
		return 0;
	if (innermost && chain.frame == sampled.frame)
		caller = stacks_caller(making->stacks, leaf->stack);
	if (caller) {
		caller = stack_of(making, caller);
		if (!caller)
			return -ENOMEM;
	}
	leaf->node = add_node(making, caller, leaf->frame);
	return leaf->node ? 0 : -ENOMEM;
}

static int make_nodes(struct making *making)
{
	struct stack_table *table = making->table;
	int result = 0;

	making->node_of = table_new(stacks_count(making->stacks) + 1ULL, sizeof(*making->node_of));
	if (!making->node_of || add_node(making, 0, 0))
		return -ENOMEM;
	if (!making->nodes)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->leaf_count && !result; i++)
		result = leaf_of(making, &table->leaves[i]);
	free(making->node_of);
	making->node_of = NULL;
	return result;
}

/* --- frames --- */

/* A frame by what its order is made of. */
struct sorted_frame {
	struct tally_frame facts;
	uint64_t place;
	uint32_t number;
};

static int by_text(const char *left, const char *right)
{
	if (left == right)
		return 0;
	if (!left || !right)
		return left ? 1 : -1;
	return strcmp(left, right);
}

static int by_frame(const void *left, const void *right)
{
	const struct sorted_frame *a = left, *b = right;
	int order = by_text(a->facts.image_path, b->facts.image_path);

	if (!order && a->facts.level != b->facts.level)
		order = a->facts.level < b->facts.level ? -1 : 1;
	if (!order && a->place != b->place)
		order = a->place < b->place ? -1 : 1;
	if (!order)
		order = by_text(a->facts.symbol, b->facts.symbol);
	if (!order && a->facts.inlined != b->facts.inlined)
		order = a->facts.inlined ? 1 : -1;
	return order ? order : a->number < b->number ? -1 : a->number > b->number;
}

static void take_frame(const struct making *making, uint32_t number, struct sorted_frame *ret)
{
	struct tally_frame_place placed;

	tally_frames_placed(making->frames, number, &placed);
	*ret = (struct sorted_frame){.facts = tally_frames_get(making->frames, number),
				     .place = placed.place,
				     .number = number};
}

/* The frames of the nodes, sorted; nodes get their ranks. */
static int make_frames(struct making *making)
{
	uint32_t total = tally_session_frame_count(making->table->session), used = 0;
	uint32_t *rank_of = calloc(total + 1ULL, sizeof(*rank_of));
	struct sorted_frame *list;
	int result = -ENOMEM;

	if (!rank_of)
		return result;
	for (uint32_t i = 1; i < making->count; i++)
		if (!rank_of[making->nodes[i].frame])
			rank_of[making->nodes[i].frame] = ++used;
	list = calloc(used + 1ULL, sizeof(*list));
	making->table->frames = calloc(used + 1ULL, sizeof(*making->table->frames));
	if (list && making->table->frames) {
		for (uint32_t i = 0; i < total; i++)
			if (rank_of[i])
				take_frame(making, i, &list[rank_of[i] - 1]);
		qsort(list, used, sizeof(*list), by_frame);
		for (uint32_t i = 0; i < used; i++) {
			rank_of[list[i].number] = i + 1;
			making->table->frames[i + 1] = list[i].number;
		}
		for (uint32_t i = 1; i < making->count; i++)
			making->nodes[i].frame = rank_of[making->nodes[i].frame];
		making->table->frame_count = used + 1;
		result = 0;
	}
	free(list);
	free(rank_of);
	return result;
}

/* --- their order --- */

struct sorted_node {
	uint64_t key; /* the caller's rank, the frame's */
	uint32_t node;
};

static int by_key(const void *left, const void *right)
{
	const struct sorted_node *a = left, *b = right;

	return a->key < b->key ? -1 : a->key > b->key;
}

/* Ranks of the nodes of one depth; the callers have theirs.  Equal ones become one. */
static void rank_level(struct making *making, struct sorted_node *level, uint32_t count)
{
	struct stack_table *table = making->table;

	for (uint32_t i = 0; i < count; i++) {
		const struct raw_node *node = &making->nodes[level[i].node];

		level[i].key = (uint64_t)making->nodes[node->caller].rank << 32 | node->frame;
	}
	qsort(level, count, sizeof(*level), by_key);
	for (uint32_t i = 0; i < count; i++) {
		if (!i || level[i].key != level[i - 1].key)
			table->nodes[table->node_count++] =
			    (struct stack_node){.caller = (uint32_t)(level[i].key >> 32),
						.frame = (uint32_t)level[i].key};
		making->nodes[level[i].node].rank = table->node_count - 1;
	}
}

static int order_nodes(struct making *making)
{
	struct stack_table *table = making->table;
	uint32_t depth = 0, at = 0, *starts;
	struct sorted_node *sorted = calloc(making->count, sizeof(*sorted));

	for (uint32_t i = 1; i < making->count; i++)
		if (making->nodes[i].depth > depth)
			depth = making->nodes[i].depth;
	starts = calloc(depth + 2ULL, sizeof(*starts));
	table->nodes = calloc(making->count, sizeof(*table->nodes));
	table->node_count = 1;
	if (!sorted || !starts || !table->nodes) {
		free(sorted);
		free(starts);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i < making->count; i++)
		starts[making->nodes[i].depth]++;
	counts_to_starts(starts, depth + 2);
	for (uint32_t i = 1; i < making->count; i++)
		sorted[starts[making->nodes[i].depth]++].node = i;
	for (uint32_t i = 1; i <= depth; at = starts[i], i++)
		rank_level(making, sorted + at, starts[i] - at);
	free(sorted);
	free(starts);
	return 0;
}

int tally_stack_table_make(struct stack_table *table)
{
	struct making making = {
	    .table = table,
	    .stacks = tally_session_stacks(table->session),
	    .frames = &tally_session_tables(table->session)->frames,
	};
	int result = make_nodes(&making);

	if (!result)
		result = make_frames(&making);
	if (!result)
		result = order_nodes(&making);
	for (uint32_t i = 0; i < table->leaf_count && !result; i++)
		table->leaves[i].node = making.nodes[table->leaves[i].node].rank;
	free(making.node_of);
	free(making.nodes);
	free(making.path);
	return result;
}

uint32_t tally_stack_table_node(const struct stack_table *table, int64_t pair)
{
	return table->leaves[pair].node;
}

uint32_t tally_stack_table_find(const struct stack_table *table, uint32_t stack, uint32_t frame)
{
	const uint64_t *pair = tally_map_find(&table->known, (uint64_t)stack << 32 | frame);

	return pair ? table->leaves[*pair].node : 0;
}
