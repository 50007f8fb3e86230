/* Call trees as blocks: below each block those of what it called, as wide as their shares. */
#include <errno.h>
#include <stdlib.h>
#include "array.h"
#include "browser.h"

/* Branches below this part of all are left out: no screen has room for them before it is zoomed
 * in. */
#define PARTS_LEAST 5000U

void browser_flame_done(struct browser_flame *flame)
{
	tally_tree_done(&flame->tree);
	free(flame->parents);
	free(flame->ids);
	flame->parents = NULL;
	flame->ids = NULL;
	flame->block_count = 0;
}

/* Parents come before their children in the list of nodes. */
static int number_nodes(struct browser_flame *flame)
{
	const struct tally_tree_node *nodes = flame->tree.nodes;

	flame->parents = calloc(flame->tree.count, sizeof(*flame->parents));
	flame->ids = calloc(flame->tree.count, sizeof(*flame->ids));
	if (!flame->parents || !flame->ids)
		return -ENOMEM;
	flame->ids[0] = 1;
	for (uint32_t i = 0; i < flame->tree.count; i++)
		for (uint32_t k = 0; k < nodes[i].child_count; k++) {
			uint32_t child = nodes[i].first_child + k;

			flame->parents[child] = i;
			flame->ids[child] =
			    browser_frame_id(flame->ids[i] * 3 + 1, &nodes[child].frame);
		}
	return 0;
}

/* Makes the tree, with branches of at least that period. */
static int make_tree(struct browser *browser, uint64_t least)
{
	struct tally_profile_event event = {.size = sizeof(event)};
	struct tally_profile_row row = {.size = sizeof(row)};
	struct tally_tree_options options = {.size = sizeof(options), .order = TALLY_CALLER};
	struct browser_flame *flame = &browser->flame;
	int result;

	browser_flame_done(flame);
	if (!browser->profile || tally_profile_event(browser->profile, browser->event, &event) ||
	    tally_profile_row(browser->profile, browser->event, 0, &row))
		return 0;
	options.least = flame->least = least == UINT64_MAX ? row.children / PARTS_LEAST : least;
	flame->total = event.total;
	result = tally_profile_tree(browser->profile, browser->event, &row, &options, &flame->tree);
	if (result)
		return result == -ENOMEM ? result : 0;
	result = number_nodes(flame);
	if (result)
		browser_flame_done(flame);
	return result;
}

int browser_flame_make(struct browser *browser)
{
	return make_tree(browser, UINT64_MAX);
}

/* --- blocks --- */

static int add_block(struct browser_flame *flame, uint32_t node, unsigned depth, double from,
		     double until)
{
	unsigned column = (unsigned)(from + 0.5), end = (unsigned)(until + 0.5);

	if (end <= column)
		return 0;
	if (!cli_array_next(&flame->blocks, &flame->block_room, flame->block_count,
			    sizeof(*flame->blocks)))
		return -ENOMEM;
	flame->blocks[flame->block_count++] = (struct browser_block){
	    .id = flame->ids[node],
	    .parent = flame->ids[flame->parents[node]],
	    .node = node,
	    .depth = depth,
	    .column = column,
	    .width = end - column,
	};
	return 1;
}

/* The children of a node, and what is below them. */
static int add_below(struct browser_flame *flame, uint32_t number, unsigned depth, double from,
		     double scale)
{
	const struct tally_tree_node *node = &flame->tree.nodes[number];
	int result = 0;

	for (uint32_t i = 0; i < node->child_count; i++) {
		uint32_t child = node->first_child + i;
		double until = from + (double)flame->tree.nodes[child].total * scale;

		result = add_block(flame, child, depth, from, until);
		if (result == 1)
			result = add_below(flame, child, depth + 1, from, scale);
		if (result < 0)
			return result;
		from = until;
	}
	return 0;
}

static uint32_t find_node(const struct browser_flame *flame, uint64_t id)
{
	for (uint32_t i = 1; i < flame->tree.count; i++)
		if (flame->ids[i] == id)
			return i;
	return 0;
}

/* The functions that lead to a node, each as wide as the screen. */
static int add_above(struct browser_flame *flame, uint32_t number, unsigned width,
		     unsigned *ret_depth)
{
	unsigned depth = 0;

	for (uint32_t node = number; node; node = flame->parents[node])
		depth++;
	*ret_depth = depth;
	for (uint32_t node = number; node; node = flame->parents[node])
		if (add_block(flame, node, --depth, 0, width) < 0)
			return -ENOMEM;
	return 0;
}

static int by_place(const void *left, const void *right)
{
	const struct browser_block *a = left, *b = right;

	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->column < b->column ? -1 : a->column > b->column;
}

int browser_flame_place(struct browser *browser, unsigned width)
{
	struct browser_flame *flame = &browser->flame;
	struct browser_place *place = &browser->place;
	uint32_t root;
	uint64_t total;
	unsigned depth = 0;
	int result;

	flame->block_count = 0;
	if (!flame->tree.count)
		return 0;
	root = place->root ? find_node(flame, place->root) : 0;
	/* Smaller branches are seen when the screen shows a part only. */
	if (flame->tree.nodes[root].total / PARTS_LEAST < flame->least / 2) {
		result = make_tree(browser, flame->tree.nodes[root].total / PARTS_LEAST);
		if (result || !flame->tree.count)
			return result;
		root = find_node(flame, place->root);
	}
	result = add_above(flame, root, width, &depth);
	total = flame->tree.nodes[root].total;
	if (!result && total)
		result = add_below(flame, root, depth, 0, (double)width / (double)total);
	if (result < 0)
		return result;
	if (flame->block_count)
		qsort(flame->blocks, flame->block_count, sizeof(*flame->blocks), by_place);
	place->cursor = 0;
	for (size_t i = 0; i < flame->block_count; i++)
		if (flame->blocks[i].id == place->chosen)
			place->cursor = i;
	if (flame->block_count)
		place->chosen = flame->blocks[place->cursor].id;
	return 0;
}

const struct tally_tree_node *browser_flame_chosen(const struct browser *browser)
{
	const struct browser_flame *flame = &browser->flame;

	return browser->place.cursor < flame->block_count
		   ? &flame->tree.nodes[flame->blocks[browser->place.cursor].node]
		   : NULL;
}
