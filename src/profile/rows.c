#include "profile/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "profile/row_order.h"

void tally_rows_done(struct tally_rows *rows)
{
	free(rows->list);
	free(rows->slots);
	free(rows->event_first);
	free(rows->starts.first);
	free(rows->starts.list);
	free(rows->ends.first);
	free(rows->ends.list);
	*rows = (struct tally_rows){0};
}

static uint32_t slot_of(uint32_t context, uint32_t key, uint32_t room)
{
	return (uint32_t)hash_u64((uint64_t)context << 32 | key) & (room - 1);
}

static int grow(struct tally_rows *rows)
{
	uint32_t room = rows->room ? rows->room * 2 : 256, slot_room = room * 2;
	struct tally_row *list;
	uint32_t *slots;

	if (room > UINT32_MAX / 4)
		return -ENOMEM;
	list = reallocarray(rows->list, room, sizeof(*list));
	if (!list)
		return -ENOMEM;
	rows->list = list;
	slots = calloc(slot_room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows->count; i++) {
		uint32_t at = slot_of(list[i].context, list[i].key, slot_room);

		while (slots[at])
			at = (at + 1) & (slot_room - 1);
		slots[at] = i + 1;
	}
	free(rows->slots);
	rows->slots = slots;
	rows->room = room;
	rows->slot_room = slot_room;
	return 0;
}

/* The row's number; TALLY_NO_ROW: out of memory. */
static uint32_t row_put(struct tally_rows *rows, uint32_t context, uint32_t key)
{
	uint32_t at;

	if (rows->count == rows->room && grow(rows))
		return TALLY_NO_ROW;
	for (at = slot_of(context, key, rows->slot_room); rows->slots[at];
	     at = (at + 1) & (rows->slot_room - 1)) {
		const struct tally_row *row = &rows->list[rows->slots[at] - 1];

		if (row->context == context && row->key == key)
			return rows->slots[at] - 1;
	}
	rows->list[rows->count] =
	    (struct tally_row){.context = context, .key = key, .number = rows->count};
	rows->slots[at] = ++rows->count;
	return rows->count - 1;
}

/* First walk: each node's place and row, and what rows spent themselves. */
static int assign_rows(const struct tally_rows_plan *plan, struct tally_settled *settled,
		       struct tally_places *places, struct tally_rows *rows)
{
	struct tally_settled_node *nodes = settled->nodes;
	uint32_t context = 0;

	for (uint32_t i = 1; i < settled->count; i++) {
		struct tally_settled_node *node = &nodes[i];
		uint32_t key;

		if (!node->parent) {
			context = node->frame;
			continue;
		}
		node->frame = tally_places_find(places, node->frame);
		if (!node->frame)
			return -ENOMEM;
		/* Without children only places where samples end have rows. */
		if (!plan->children && !node->samples)
			continue;
		key = rows_key(&plan->keys, places, node->frame);
		node->row = row_put(rows, context, key);
		if (node->row == TALLY_NO_ROW)
			return -ENOMEM;
		rows->list[node->row].self += node->self;
		rows->list[node->row].samples += node->samples;
	}
	return 0;
}

/* Whether a row's trees start at this node, or else whether samples end in it.  `open` is by row
 * the end of the last run that the row covers: a node of the row within it stands below another one
 * of the row. */
static bool starts_here(const struct tally_settled_node *node, uint32_t index, bool starts,
			uint32_t *open)
{
	if (node->row == TALLY_NO_ROW)
		return false;
	if (!starts)
		return node->samples > 0;
	if (index < open[node->row])
		return false;
	open[node->row] = index + node->size;
	return true;
}

/* Lists nodes by row with a counting sort, two walks.  Before the sums, as it asks for samples. */
static int list_nodes(const struct tally_settled *settled, uint32_t row_count, bool starts,
		      uint32_t *open, struct tally_row_nodes *ret)
{
	const struct tally_settled_node *nodes = settled->nodes;
	uint32_t total = 0;

	ret->first = calloc((size_t)row_count + 2, sizeof(*ret->first));
	if (!ret->first)
		return -ENOMEM;
	if (starts)
		memset(open, 0, row_count * sizeof(*open));
	for (uint32_t i = 1; i < settled->count; i++)
		if (starts_here(&nodes[i], i, starts, open)) {
			ret->first[nodes[i].row + 2]++;
			total++;
		}
	for (uint32_t row = 2; row < row_count + 2; row++)
		ret->first[row] += ret->first[row - 1];
	ret->list = malloc(((size_t)total + 1) * sizeof(*ret->list));
	if (!ret->list)
		return -ENOMEM;
	if (starts)
		memset(open, 0, row_count * sizeof(*open));
	for (uint32_t i = 1; i < settled->count; i++)
		if (starts_here(&nodes[i], i, starts, open))
			ret->list[ret->first[nodes[i].row + 1]++] = i;
	return 0;
}

int tally_rows_list_ends(const struct tally_settled *settled, uint32_t row_count,
			 struct tally_row_nodes *ret)
{
	return list_nodes(settled, row_count, false, NULL, ret);
}

/* A row counts once what is below its outermost node on each path. */
static void sum_children(const struct tally_settled *settled, struct tally_rows *rows,
			 uint32_t *open)
{
	const struct tally_settled_node *nodes = settled->nodes;

	for (uint32_t i = 1; i < settled->count; i++)
		if (starts_here(&nodes[i], i, true, open))
			rows->list[nodes[i].row].children += nodes[i].total;
}

int tally_rows_make(const struct tally_rows_plan *plan, struct tally_settled *settled,
		    const struct tally_contexts *contexts, struct tally_places *places,
		    struct tally_rows *ret)
{
	struct tally_rows rows = {0};
	uint32_t *open = NULL;
	int result = assign_rows(plan, settled, places, &rows);

	if (!result) {
		open = calloc((size_t)rows.count + 1, sizeof(*open));
		if (!open)
			result = -ENOMEM;
	}
	if (!result && plan->trees)
		result = tally_rows_list_ends(settled, rows.count, &rows.ends);
	if (!result && plan->trees && plan->children)
		result = list_nodes(settled, rows.count, true, open, &rows.starts);
	if (!result) {
		tally_settled_sum(settled);
		if (plan->children) {
			memset(open, 0, rows.count * sizeof(*open));
			sum_children(settled, &rows, open);
		} else {
			for (uint32_t i = 0; i < rows.count; i++)
				rows.list[i].children = rows.list[i].self;
		}
	}
	/* Ordering is what takes most room. */
	free(open);
	free(rows.slots);
	rows.slots = NULL;
	if (!plan->trees)
		tally_settled_done(settled);
	if (!result)
		result = tally_row_order_make(plan, contexts, places, &rows);
	if (result) {
		tally_rows_done(&rows);
		return result;
	}
	*ret = rows;
	return 0;
}
