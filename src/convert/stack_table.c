#include "convert/stack_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/key_order.h"
#include "base/pool.h"
#include "base/table.h"
#include "resolve/frames.h"
#include "resolve/resolve_tables.h"
#include "resolve/stacks.h"
#include "session/numbers.h"
#include "session/run.h"

/* How many nodes before they are taken memory is fetched. */
#define AHEAD 8U

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
	uint32_t *sorted; /* all frames of the session: frame_count */
	uint32_t frame_count;
};

void tally_stack_table_drop_pairs(struct stack_table *table)
{
	free(table->leaves);
	free(table->first);
	tally_map_done(&table->known);
	table->leaves = NULL;
	table->first = NULL;
	table->leaf_count = table->leaf_room = table->first_room = 0;
}

void tally_stack_table_done(struct stack_table *table)
{
	tally_stack_table_drop_pairs(table);
	free(table->frames);
	free(table->nodes);
	table->frames = NULL;
	table->nodes = NULL;
}

/* The first pair of a stack, if it is with this frame; else NULL. */
static struct stack_leaf *first_pair(const struct stack_table *table, uint32_t stack,
				     uint32_t frame)
{
	uint32_t first = stack < table->first_room ? table->first[stack] : 0;

	return first && table->leaves[first - 1].frame == frame ? &table->leaves[first - 1] : NULL;
}

/* Its number; -ENOMEM. */
static int64_t add_pair(struct stack_table *table, uint32_t stack, uint32_t frame)
{
	uint32_t room = array_room(table->leaf_room, table->leaf_count + 1, 1024);

	if (room != table->leaf_room && !array_resize(&table->leaves, room, sizeof(*table->leaves)))
		return -ENOMEM;
	table->leaf_room = room;
	table->leaves[table->leaf_count] = (struct stack_leaf){.stack = stack, .frame = frame};
	return table->leaf_count++;
}

int64_t tally_stack_table_add(struct stack_table *table, uint32_t stack, uint32_t frame)
{
	const struct stack_leaf *first = first_pair(table, stack, frame);
	uint64_t *number;
	int64_t pair;
	bool added;

	if (first)
		return first - table->leaves;
	if (!array_reach(&table->first, &table->first_room, stack, 1024, sizeof(*table->first)))
		return -ENOMEM;
	if (!table->first[stack]) {
		pair = add_pair(table, stack, frame);
		if (pair >= 0)
			table->first[stack] = (uint32_t)pair + 1;
		return pair;
	}
	number = tally_map_put(&table->known, (uint64_t)stack << 32 | frame, &added);
	if (!number)
		return -ENOMEM;
	if (added) {
		pair = add_pair(table, stack, frame);
		if (pair < 0)
			return pair;
		*number = (uint64_t)pair;
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

/* What the order of frames is made of, by their numbers: first the rank of the image's path and its
 * level, then the place; texts only where these are equal. */
struct frame_keys {
	uint64_t *images, *places;
};

/* The paths of images, of which there are few, by their order. */
struct path_ranks {
	const char **paths;
	uint32_t count, room;
	struct tally_map rank_of; /* by the address of the text */
};

static int by_text(const char *left, const char *right)
{
	if (left == right)
		return 0;
	if (!left || !right)
		return left ? 1 : -1;
	return strcmp(left, right);
}

static int by_path(const void *left, const void *right)
{
	return by_text(*(const char *const *)left, *(const char *const *)right);
}

/* Of frames at one place. */
static int by_symbol(const void *left, const void *right, void *context)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct tally_frame one = tally_frames_get(context, a);
	const struct tally_frame other = tally_frames_get(context, b);
	int order = by_text(one.symbol, other.symbol);

	if (!order && one.inlined != other.inlined)
		order = one.inlined ? 1 : -1;
	return order ? order : a < b ? -1 : a > b;
}

static int note_path(struct path_ranks *ranks, const char *path)
{
	bool added;
	uint64_t *rank = tally_map_put(&ranks->rank_of, (uintptr_t)path, &added);
	uint32_t room;

	if (!rank)
		return -ENOMEM;
	if (!added)
		return 0;
	room = array_room(ranks->room, ranks->count + 1, 64);
	if (room != ranks->room && !array_resize(&ranks->paths, room, sizeof(*ranks->paths)))
		return -ENOMEM;
	ranks->room = room;
	ranks->paths[ranks->count++] = path;
	return 0;
}

/* Equal texts have one rank. */
static void rank_paths(struct path_ranks *ranks)
{
	uint32_t rank = 0;

	if (ranks->count)
		qsort(ranks->paths, ranks->count, sizeof(*ranks->paths), by_path);
	for (uint32_t i = 0; i < ranks->count; i++) {
		if (i && by_text(ranks->paths[i - 1], ranks->paths[i]))
			rank++;
		*tally_map_find(&ranks->rank_of, (uintptr_t)ranks->paths[i]) = rank;
	}
}

static int take_keys(const struct tally_frames *frames, uint32_t total,
		     const struct frame_keys *keys)
{
	struct path_ranks ranks = {.paths = NULL};
	int result = 0;

	for (uint32_t i = 0; i < total && !result; i++)
		result = note_path(&ranks, tally_frames_get(frames, i).image_path);
	if (!result)
		rank_paths(&ranks);
	for (uint32_t i = 0; i < total && !result; i++) {
		const struct tally_frame facts = tally_frames_get(frames, i);
		struct tally_frame_place placed;

		tally_frames_placed(frames, i, &placed);
		keys->images[i] = *tally_map_find(&ranks.rank_of, (uintptr_t)facts.image_path)
				      << 8 |
				  (unsigned char)facts.level;
		keys->places[i] = placed.place;
	}
	tally_map_done(&ranks.rank_of);
	free(ranks.paths);
	return result;
}

static void sort_equal(const struct making *making, const struct frame_keys *keys)
{
	uint32_t *sorted = making->sorted, end;

	for (uint32_t at = 0; at < making->frame_count; at = end) {
		for (end = at + 1; end < making->frame_count &&
				   keys->places[sorted[end]] == keys->places[sorted[at]] &&
				   keys->images[sorted[end]] == keys->images[sorted[at]];)
			end++;
		if (end - at > 1)
			qsort_r(sorted + at, end - at, sizeof(*sorted), by_symbol,
				(void *)making->frames);
	}
}

/* All frames of the session, sorted: those of the nodes are not known yet. */
static int sort_frames(struct making *making)
{
	uint32_t count = tally_session_frame_count(making->table->session);
	uint32_t *spare = array_new(count + 1ULL, sizeof(*spare));
	struct frame_keys keys = {.images = array_new(count + 1ULL, sizeof(*keys.images)),
				  .places = array_new(count + 1ULL, sizeof(*keys.places))};
	int result = -ENOMEM;

	making->frame_count = count;
	making->sorted = array_new(count + 1ULL, sizeof(*making->sorted));
	if (spare && keys.images && keys.places && making->sorted)
		result = take_keys(making->frames, count, &keys);
	for (uint32_t i = 0; i < count && !result; i++)
		making->sorted[i] = i;
	if (!result) {
		tally_key_sort(keys.places, making->sorted, spare, count);
		tally_key_sort(keys.images, making->sorted, spare, count);
		sort_equal(making, &keys);
	}
	free(spare);
	free(keys.images);
	free(keys.places);
	return result;
}

/* The frames of the nodes, in their order; nodes get their ranks. */
static int take_used(struct making *making)
{
	struct stack_table *table = making->table;
	uint32_t *rank_of = table_new(making->frame_count + 1ULL, sizeof(*rank_of));

	table->frames = calloc(making->frame_count + 1ULL, sizeof(*table->frames));
	if (!rank_of || !table->frames) {
		free(rank_of);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i < making->count; i++)
		rank_of[making->nodes[i].frame] = 1;
	table->frame_count = 1;
	for (uint32_t i = 0; i < making->frame_count; i++) {
		uint32_t number = making->sorted[i];

		if (!rank_of[number])
			continue;
		rank_of[number] = table->frame_count;
		table->frames[table->frame_count++] = number;
	}
	for (uint32_t i = 1; i < making->count; i++)
		making->nodes[i].frame = rank_of[making->nodes[i].frame];
	free(making->sorted);
	making->sorted = NULL;
	free(rank_of);
	return 0;
}

/* Two pieces of work that need nothing of each other. */
static int make_piece(void *context, unsigned worker, size_t piece)
{
	(void)worker;
	return piece ? sort_frames(context) : make_nodes(context);
}

/* --- their order --- */

/* Nodes in the order of their depth, and of one depth in that of their frames: two counting sorts,
 * each of which keeps the order of the one before.  starts[] becomes where each depth ends. */
static bool sort_nodes(const struct making *making, uint32_t *starts, uint32_t depths,
		       uint32_t *sorted)
{
	uint32_t frames = making->table->frame_count, *by_frames = calloc(making->count, 4);
	uint32_t *counts = calloc(frames + 1ULL, sizeof(*counts));

	for (uint32_t i = 1; counts && i < making->count; i++) {
		counts[making->nodes[i].frame]++;
		starts[making->nodes[i].depth]++;
	}
	if (counts && by_frames) {
		counts_to_starts(counts, frames + 1);
		counts_to_starts(starts, depths);
		for (uint32_t i = 1; i < making->count; i++)
			by_frames[counts[making->nodes[i].frame]++] = i;
		for (uint32_t i = 0; i + 1 < making->count; i++)
			sorted[starts[making->nodes[by_frames[i]].depth]++] = by_frames[i];
	}
	free(by_frames);
	free(counts);
	return counts && by_frames;
}

/* Ranks of the nodes of one depth, which are in the order of their frames; the callers have theirs,
 * from `first` on, before `end`.  They are sorted by callers into `to`; then equal ones, which are
 * beside each other, become one. */
static void rank_level(struct making *making, const uint32_t *level, uint32_t count, uint32_t first,
		       uint32_t end, uint32_t *counts, uint32_t *callers, uint32_t *to)
{
	struct stack_table *table = making->table;
	const struct raw_node *nodes = making->nodes;

	memset(counts, 0, (end - first + 1ULL) * sizeof(*counts));
	for (uint32_t i = 0; i < count; i++) {
		if (i + 2 * AHEAD < count)
			__builtin_prefetch(&nodes[level[i + 2 * AHEAD]]);
		if (i + AHEAD < count)
			__builtin_prefetch(&nodes[nodes[level[i + AHEAD]].caller]);
		callers[i] = nodes[nodes[level[i]].caller].rank - first;
		counts[callers[i]]++;
	}
	counts_to_starts(counts, end - first + 1);
	for (uint32_t i = 0; i < count; i++)
		to[counts[callers[i]]++] = level[i];
	for (uint32_t i = 0; i < count; i++) {
		struct raw_node *node = &making->nodes[to[i]];
		uint32_t caller = nodes[node->caller].rank;
		const struct stack_node *last = &table->nodes[table->node_count - 1];

		if (!i || last->caller != caller || last->frame != node->frame)
			table->nodes[table->node_count++] =
			    (struct stack_node){.caller = caller, .frame = node->frame};
		node->rank = table->node_count - 1;
	}
}

static int order_nodes(struct making *making)
{
	struct stack_table *table = making->table;
	uint32_t depth = 0, at = 0, first = 0, end = 1, *starts;
	uint32_t *sorted = calloc(making->count, sizeof(*sorted));
	uint32_t *to = calloc(making->count, sizeof(*to));
	uint32_t *callers = calloc(making->count, sizeof(*callers));
	uint32_t *counts = calloc(making->count + 1ULL, sizeof(*counts));
	int result = -ENOMEM;

	for (uint32_t i = 1; i < making->count; i++)
		if (making->nodes[i].depth > depth)
			depth = making->nodes[i].depth;
	starts = calloc(depth + 2ULL, sizeof(*starts));
	table->nodes = calloc(making->count, sizeof(*table->nodes));
	table->node_count = 1;
	if (sorted && to && callers && counts && starts && table->nodes &&
	    sort_nodes(making, starts, depth + 2, sorted)) {
		for (uint32_t i = 1; i <= depth; at = starts[i], i++) {
			rank_level(making, sorted + at, starts[i] - at, first, end, counts, callers,
				   to);
			first = end;
			end = table->node_count;
		}
		result = 0;
	}
	free(sorted);
	free(to);
	free(callers);
	free(counts);
	free(starts);
	return result;
}

int tally_stack_table_make(struct stack_table *table)
{
	struct making making = {
	    .table = table,
	    .stacks = tally_session_stacks(table->session),
	    .frames = &tally_session_tables(table->session)->frames,
	};
	int result = tally_pool_run(tally_session_threads(table->session), 2, make_piece, &making);

	if (!result)
		result = take_used(&making);
	if (!result)
		result = order_nodes(&making);
	for (uint32_t i = 0; i < table->leaf_count && !result; i++)
		table->leaves[i].node = making.nodes[table->leaves[i].node].rank;
	free(making.node_of);
	free(making.nodes);
	free(making.path);
	free(making.sorted);
	return result;
}

uint32_t tally_stack_table_node(const struct stack_table *table, int64_t pair)
{
	return table->leaves[pair].node;
}
