#include "profile/row_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/map.h"
#include "base/pool.h"
#include "base/table.h"
#include "profile/row_order.h"
#include "session/run.h"

void tally_rows_done(struct tally_rows *rows)
{
	free(rows->list);
	free(rows->event_first);
	free(rows->all.first);
	free(rows->all.list);
	free(rows->ends.first);
	free(rows->ends.list);
	*rows = (struct tally_rows){0};
}

/* At first there is room for each place once; what is not written takes no memory. */
static int list_room(struct tally_rows *rows, uint64_t room)
{
	if (room > UINT32_MAX / 4 || !array_resize(&rows->list, room, sizeof(*rows->list)))
		return -ENOMEM;
	rows->room = (uint32_t)room;
	return 0;
}

static int grow_list(struct tally_rows *rows)
{
	return list_room(rows, (uint64_t)rows->room + rows->room / 4 + 256);
}

/* The last row of a key: its context in the upper half, its number + 1; 0: none. */
static uint64_t row_of(uint32_t context, uint32_t number)
{
	return (uint64_t)context << 32 | (number + 1);
}

/* The row's number; TALLY_NO_ROW: out of memory.  Contexts come one after another, so a row that is
 * there is the last one of its key. */
static uint32_t row_put(struct tally_rows *rows, uint64_t *last, uint32_t context, uint32_t key)
{
	if (*last && *last >> 32 == context)
		return (uint32_t)*last - 1;
	if (rows->count == rows->room && grow_list(rows))
		return TALLY_NO_ROW;
	rows->list[rows->count] = (struct tally_row){.context = context, .key = key};
	*last = row_of(context, rows->count);
	return rows->count++;
}

/* Walks through nodes lead all over the rows: what is soon read was fetched before. */
#define AHEAD 16U

static inline void fetch_place(const struct tally_places *places, uint32_t frame)
{
	if (frame < places->frame_count)
		__builtin_prefetch(&places->place_of[frame]);
}

static inline void fetch_row(const struct tally_rows *rows, uint32_t number)
{
	if (number < rows->count)
		__builtin_prefetch(&rows->list[number], 1);
}

/* The same where contexts come in any order: `known` has a row's number by its context and key. */
static uint32_t row_find(struct tally_rows *rows, struct tally_map *known, uint32_t context,
			 uint32_t key)
{
	bool added;
	uint64_t last = 0, *number = tally_map_put(known, (uint64_t)context << 32 | key, &added);

	if (!number)
		return TALLY_NO_ROW;
	if (added)
		*number = row_put(rows, &last, context, key);
	return (uint32_t)*number;
}

/* Adds a node to its row.  A row counts once what is below its outermost node on each path: until
 * rows are made, their numbers are the ends of the last runs that they cover. */
static void add_node(const struct tally_call_node *node, uint32_t number, uint64_t samples,
		     bool children, struct tally_row *row)
{
	if (samples) {
		row->self += call_node_self(node);
		row->samples += samples;
	}
	if (children && number >= row->number) {
		row->number = number + node->size;
		row->children += call_node_total(node);
	}
}

/* Each node's place and row, and what rows sum up. */
static int assign_rows(const struct tally_rows_plan *plan, struct tally_call_tree *tree,
		       struct tally_places *places, struct tally_rows *rows)
{
	struct tally_call_node *nodes = tree->nodes;
	/* By key: a frame, or a binary's number + 1; there are no more of these. */
	uint64_t *last = table_new((size_t)places->frame_count + 1, sizeof(*last));
	struct tally_map known = {0};
	uint32_t context = 0;
	int result = last ? list_room(rows, places->frame_count) : -ENOMEM;

	for (uint32_t i = 1; !result && i < tree->count; i++) {
		struct tally_call_node *node = &nodes[i];
		uint64_t samples = call_node_samples(tree, i);
		uint32_t key;

		node->row = TALLY_NO_ROW;
		if (i + AHEAD < tree->count) {
			fetch_place(places, node[AHEAD].frame);
			if (plan->keys->symbol) {
				__builtin_prefetch(
				    &last[places_find(places, node[AHEAD / 2].frame)]);
				fetch_row(
				    rows,
				    (uint32_t)last[places_find(places, node[AHEAD / 4].frame)] - 1);
			}
		}
		if (!node->parent) {
			context = node->frame;
			continue;
		}
		node->frame = places_find(places, node->frame);
		if (!node->frame) {
			result = -ENOMEM;
			break;
		}
		/* Without children only places where samples end have rows. */
		if (!plan->children && !samples)
			continue;
		if (plan->resolved && !node->samples &&
		    !tally_session_frame(places->session, node->frame).symbol)
			continue;
		key = rows_key(plan->keys, places, node->frame);
		node->row = plan->node_contexts
				? row_find(rows, &known, plan->node_contexts[i], key)
				: row_put(rows, &last[key], context, key);
		if (node->row == TALLY_NO_ROW) {
			result = -ENOMEM;
			break;
		}
		add_node(node, i, samples, plan->children, &rows->list[node->row]);
	}
	free(last);
	tally_map_done(&known);
	return result;
}

/* The same of sums without call stacks, in the order of their contexts. */
static int assign_places(const struct tally_rows_plan *plan, const struct tally_call_sums *sums,
			 const uint32_t *order, struct tally_places *places,
			 struct tally_rows *rows)
{
	uint64_t *last = table_new((size_t)places->frame_count + 1, sizeof(*last));
	bool placed = plan->keys->symbol || plan->keys->image;
	int result = last ? list_room(rows, places->frame_count) : -ENOMEM;

	for (uint32_t i = 0; i < sums->count && !result; i++) {
		const struct tally_call_sum *sum = &sums->list[order[i]];
		uint32_t place = 0, key, number;

		if (i + AHEAD * 2 < sums->count)
			__builtin_prefetch(&sums->list[order[i + AHEAD * 2]]);
		if (i + AHEAD < sums->count)
			fetch_place(places, sums->list[order[i + AHEAD]].frame);
		if (i + AHEAD / 2 < sums->count && plan->keys->symbol)
			__builtin_prefetch(
			    &last[places_find(places, sums->list[order[i + AHEAD / 2]].frame)]);
		if (placed)
			place = places_find(places, sum->frame);
		if (placed && !place) {
			result = -ENOMEM;
			break;
		}
		key = rows_key(plan->keys, places, place);
		number = row_put(rows, &last[key], sum->context, key);
		if (number == TALLY_NO_ROW) {
			result = -ENOMEM;
			break;
		}
		rows->list[number].self += sum->self;
		rows->list[number].samples += sum->samples;
	}
	free(last);
	return result;
}

/* Numbers those rows that have trees; all others are alike. */
static uint32_t number_rows(const struct tally_rows_plan *plan,
			    const struct tally_contexts *contexts, struct tally_rows *rows)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < rows->count; i++) {
		struct tally_row *row = &rows->list[i];

		row->number = TALLY_NO_ROW;
		if (!rows_is_small(plan->tree_least, row,
				   profile_whole(&plan->sums[contexts->list[row->context].event],
						 plan->relative)))
			row->number = count++;
	}
	return count;
}

/* The nodes then tell their rows' numbers, TALLY_NO_ROW for rows without trees. */
static void renumber_nodes(struct tally_call_tree *tree, const struct tally_rows *rows)
{
	for (uint32_t i = 1; i < tree->count; i++) {
		struct tally_call_node *node = &tree->nodes[i];

		if (i + AHEAD < tree->count)
			fetch_row(rows, node[AHEAD].row);
		if (node->row != TALLY_NO_ROW)
			node->row = rows->list[node->row].number;
	}
}

/* Lists nodes by row with a counting sort, two walks. */
static int list_nodes(const struct tally_call_tree *tree, uint32_t row_count, bool all,
		      struct tally_row_nodes *ret)
{
	const struct tally_call_node *nodes = tree->nodes;
	uint32_t *first = ret->first = calloc((size_t)row_count + 2, sizeof(*first));

	for (unsigned walk = 0; first && walk < 2; walk++) {
		for (uint32_t i = 1; i < tree->count; i++) {
			uint32_t row = nodes[i].row;

			if (row == TALLY_NO_ROW || !(all || nodes[i].ends))
				continue;
			if (walk)
				ret->list[first[row + 1]++] = i;
			else
				first[row + 2]++;
		}
		if (walk)
			break;
		for (uint32_t row = 2; row < row_count + 2; row++)
			first[row] += first[row - 1];
		ret->list = array_new((size_t)first[row_count + 1] + 1, sizeof(*ret->list));
		if (!ret->list)
			break;
	}
	return ret->list ? 0 : -ENOMEM;
}

int tally_rows_list_ends(const struct tally_call_tree *tree, uint32_t row_count,
			 struct tally_row_nodes *ret)
{
	return list_nodes(tree, row_count, false, ret);
}

/* The list as long as its rows, which count what is their own until more is summed. */
static void close_list(const struct tally_rows_plan *plan, struct tally_rows *rows)
{
	if (array_resize(&rows->list, (size_t)rows->count + 1, sizeof(*rows->list)))
		rows->room = rows->count;
	for (uint32_t i = 0; !plan->children && i < rows->count; i++)
		rows->list[i].children = rows->list[i].self;
}

static int order(const struct tally_rows_plan *plan, const struct tally_contexts *contexts,
		 const struct tally_places *places, struct tally_rows *rows)
{
	int result = 0;

	if (!plan->ranks->dso)
		result = tally_place_ranks_make(places, plan->keys->symbol, plan->ranks);
	return result ? result : tally_row_order_make(plan, contexts, places, rows);
}

/* What remains when rows have their numbers and sums: their order, and two lists of nodes. */
struct finishing {
	const struct tally_rows_plan *plan;
	const struct tally_call_tree *tree;
	const struct tally_contexts *contexts;
	const struct tally_places *places;
	struct tally_rows *rows;
	uint32_t numbered;
};

static int finish_part(void *context, unsigned thread, size_t part)
{
	const struct finishing *finishing = context;
	struct tally_rows *rows = finishing->rows;

	(void)thread;
	if (!part)
		return order(finishing->plan, finishing->contexts, finishing->places, rows);
	return list_nodes(finishing->tree, finishing->numbered, part == 2,
			  part == 2 ? &rows->all : &rows->ends);
}

int tally_rows_make(const struct tally_rows_plan *plan, struct tally_call_tree *tree,
		    const struct tally_contexts *contexts, struct tally_places *places,
		    struct tally_rows *ret)
{
	struct tally_rows rows = {0};
	struct finishing finishing = {plan, tree, contexts, places, &rows, 0};
	int result = assign_rows(plan, tree, places, &rows);

	if (!result) {
		close_list(plan, &rows);
		finishing.numbered = number_rows(plan, contexts, &rows);
		renumber_nodes(tree, &rows);
		result = tally_pool_run(tally_session_threads(places->session),
					plan->children ? 3 : 2, finish_part, &finishing);
	}
	if (result)
		tally_rows_done(&rows);
	else
		*ret = rows;
	return result;
}

int tally_rows_make_flat(const struct tally_rows_plan *plan, struct tally_call_sums *sums,
			 const struct tally_contexts *contexts, struct tally_places *places,
			 struct tally_rows *ret)
{
	struct tally_rows rows = {0};
	uint32_t *by_context = NULL;
	int result = tally_call_sums_order(sums, contexts->count, &by_context);

	if (!result)
		result = assign_places(plan, sums, by_context, places, &rows);
	free(by_context);
	tally_call_sums_done(sums); /* ordering is what takes most room */
	if (!result) {
		close_list(plan, &rows);
		result = order(plan, contexts, places, &rows);
	}
	if (result)
		tally_rows_done(&rows);
	else
		*ret = rows;
	return result;
}
