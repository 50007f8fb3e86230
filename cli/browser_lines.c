/* Rows, and below open ones their call trees, as lines. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "array.h"
#include "browser.h"

/* Branches below this share of their row are not shown. */
#define TREE_LEAST 0.5
/* Lines below one that are opened together, at most. */
#define OPENED_MOST 20000U
#define DEPTH_MOST  512U

void browser_forget_trees(struct browser *browser)
{
	for (size_t i = 0; i < browser->tree_count; i++)
		tally_tree_done(&browser->trees[i].tree);
	browser->tree_count = 0;
}

static size_t find_opened(const struct browser *browser, uint64_t id)
{
	size_t at = 0;

	while (at < browser->opened_count && browser->opened[at] != id)
		at++;
	return at;
}

static bool is_opened(const struct browser *browser, uint64_t id)
{
	return find_opened(browser, id) < browser->opened_count;
}

static struct browser_line *add_line(struct browser *browser)
{
	if (!cli_array_next(&browser->lines, &browser->line_room, browser->line_count,
			    sizeof(*browser->lines)))
		return NULL;
	browser->lines[browser->line_count] = (struct browser_line){.tree = BROWSER_NO_TREE};
	return &browser->lines[browser->line_count++];
}

/* The number of a row's tree, made when it is needed; BROWSER_NO_TREE: it has none, *ret_result
 * < 0: out of memory. */
static uint32_t tree_of(struct browser *browser, const struct tally_profile_row *row, uint64_t id,
			enum tally_call_order order, int *ret_result)
{
	struct tally_tree_options options = {
	    .size = sizeof(options),
	    .order = order,
	    .least = (uint64_t)((double)row->children * TREE_LEAST / 100),
	};
	struct browser_tree *tree;
	int result;

	for (size_t i = 0; i < browser->tree_count; i++)
		if (browser->trees[i].row_id == id && browser->trees[i].order == order)
			return (uint32_t)i;
	if (!cli_array_next(&browser->trees, &browser->tree_room, browser->tree_count,
			    sizeof(*browser->trees))) {
		*ret_result = -ENOMEM;
		return BROWSER_NO_TREE;
	}
	tree = &browser->trees[browser->tree_count];
	tree->row_id = id;
	tree->order = order;
	result = tally_profile_tree(browser->profile, browser->event, row, &options, &tree->tree);
	if (result) {
		*ret_result = result == -ENOMEM ? result : 0;
		return BROWSER_NO_TREE;
	}
	return (uint32_t)browser->tree_count++;
}

struct walk {
	struct browser *browser;
	uint32_t row, tree;
	double total;
};

/* An only child is open unless somebody closed it. */
static bool is_open(const struct browser *browser, const struct tally_tree_node *above,
		    const struct tally_tree_node *node, uint64_t id)
{
	return node->child_count && (above->child_count == 1) != is_opened(browser, id);
}

static uint64_t node_id(uint64_t parent, const struct tally_tree_node *node)
{
	return browser_frame_id(parent * 3 + 1, &node->frame);
}

/* Siblings that are compared with each other, at most. */
#define ALIKE_MOST 256U

/* Whether a sibling has the name of a node, but is of another binary. */
static bool has_namesake(const struct tally_tree_node *nodes, const struct tally_tree_node *above,
			 const struct tally_tree_node *node)
{
	uint32_t count = above->child_count < ALIKE_MOST ? above->child_count : ALIKE_MOST;

	for (uint32_t i = 0; node->frame.symbol && node->frame.image_name && i < count; i++) {
		const struct tally_frame *other = &nodes[above->first_child + i].frame;

		if (other->symbol && other->image_name &&
		    !strcmp(other->symbol, node->frame.symbol) &&
		    strcmp(other->image_name, node->frame.image_name) != 0)
			return true;
	}
	return false;
}

/* The nodes below one.  0 or -ENOMEM. */
static int add_nodes(const struct walk *walk, uint32_t parent, uint64_t parent_id, unsigned depth)
{
	struct browser *browser = walk->browser;
	const struct tally_tree_node *nodes = browser->trees[walk->tree].tree.nodes;
	const struct tally_tree_node *above = &nodes[parent];

	for (uint32_t i = 0; i < above->child_count; i++) {
		uint32_t number = above->first_child + i;
		const struct tally_tree_node *node = &nodes[number];
		struct browser_line *line = add_line(browser);
		uint64_t id = node_id(parent_id, node);
		bool open;

		if (!line)
			return -ENOMEM;
		open = is_open(browser, above, node, id);
		*line = (struct browser_line){
		    .id = id,
		    .row = walk->row,
		    .tree = walk->tree,
		    .node = number,
		    .depth = depth,
		    .opens = node->child_count > 0,
		    .open = open,
		    .with_image = has_namesake(nodes, above, node),
		    .share = 100.0 * (double)node->total / walk->total,
		    .self = 100.0 * (double)node->self / walk->total,
		};
		if (open && depth < DEPTH_MOST &&
		    add_nodes(walk, number, id, depth + (node->child_count > 1)))
			return -ENOMEM;
	}
	return 0;
}

static bool same_frame(const struct tally_frame *one, const struct tally_frame *other)
{
	return one->symbol == other->symbol && one->place == other->place &&
	       one->image == other->image && one->inlined == other->inlined;
}

/* The node below which the tree of a row begins: not the row itself, nor its only child when that
 * is the same function. */
static uint32_t first_parent(const struct tally_tree *tree)
{
	const struct tally_tree_node *root = tree->nodes, *child = &root[root->first_child];

	return root->child_count == 1 && child->frame.symbol &&
		       same_frame(&child->frame, &root->frame)
		   ? root->first_child
		   : 0;
}

static int row_line(struct browser *browser, const struct browser_row *row,
		    const struct tally_profile_event *event, struct browser_line **ret)
{
	double total = event->total ? (double)event->total : 1;
	struct browser_line *line = add_line(browser);

	if (!line)
		return -ENOMEM;
	line->id = row->id;
	line->row = row->number;
	line->share = 100.0 * (double)row->children / total;
	line->self = 100.0 * (double)row->self / total;
	line->opens = event->has_callchains && line->share >= browser->tree_least;
	*ret = line;
	return 0;
}

static int add_row(struct browser *browser, const struct browser_row *shown,
		   const struct tally_profile_event *event)
{
	struct walk walk = {.browser = browser,
			    .row = shown->number,
			    .total = event->total ? (double)event->total : 1};
	struct tally_profile_row row = {.size = sizeof(row)};
	struct browser_line *line;
	int result = row_line(browser, shown, event, &line);

	if (result)
		return result;
	line->open = line->opens && is_opened(browser, shown->id);
	if (!line->open || tally_profile_row(browser->profile, browser->event, shown->number, &row))
		return 0;
	walk.tree = tree_of(browser, &row, shown->id, browser->order, &result);
	if (walk.tree == BROWSER_NO_TREE)
		return result;
	return add_nodes(&walk, first_parent(&browser->trees[walk.tree].tree), shown->id, 1);
}

/* --- all call stacks: the tree of the one row --- */

static int add_stacks(struct browser *browser, const struct tally_profile_event *event)
{
	struct tally_profile_row row = {.size = sizeof(row)};
	struct walk walk = {.browser = browser, .total = event->total ? (double)event->total : 1};
	int result = 0;

	if (tally_profile_row(browser->profile, browser->event, 0, &row))
		return 0;
	walk.tree = tree_of(browser, &row, 1, browser->order, &result);
	return walk.tree == BROWSER_NO_TREE ? result : add_nodes(&walk, 0, 1, 1);
}

/* --- callers and callees of a function --- */

static int add_title(struct browser *browser, const char *title)
{
	struct browser_line *line = add_line(browser);

	if (!line)
		return -ENOMEM;
	line->title = title;
	line->id = browser_text_id(7, title);
	return 0;
}

static int add_callers(const struct walk *walk, const struct tally_profile_row *row, uint64_t id)
{
	struct browser *browser = walk->browser;
	struct walk up = *walk;
	int result = 0;
	size_t before;

	up.tree = tree_of(browser, row, id, TALLY_CALLEE, &result);
	if (!result)
		result = add_title(browser, "Called by");
	before = browser->line_count;
	if (!result && up.tree != BROWSER_NO_TREE)
		result = add_nodes(&up, first_parent(&browser->trees[up.tree].tree), id * 5, 1);
	if (!result && browser->line_count == before)
		browser->lines[before - 1].title = "Called by: no function, or none is known";
	return result;
}

/* Of the tree from the outermost frame, the part below the function: the paths that lead to it are
 * what the callers show. */
static int add_callees(const struct walk *walk, const struct tally_profile_row *row, uint64_t id)
{
	struct browser *browser = walk->browser;
	struct walk down = *walk;
	int result = 0;
	size_t before;

	down.tree = tree_of(browser, row, id, TALLY_CALLER, &result);
	if (!result)
		result = add_title(browser, "Calls");
	before = browser->line_count;
	if (!result && down.tree != BROWSER_NO_TREE) {
		const struct tally_tree_node *nodes = browser->trees[down.tree].tree.nodes;

		for (uint32_t i = 0; i < nodes->child_count && !result; i++)
			if (same_frame(&nodes[nodes->first_child + i].frame, &nodes->frame))
				result = add_nodes(&down, nodes->first_child + i, id * 7, 1);
	}
	if (!result && browser->line_count == before)
		browser->lines[before - 1].title = tally_profile_has_children(browser->profile)
						       ? "Calls: no function that has samples"
						       : "Calls: unknown with --no-children";
	return result;
}

static int add_function(struct browser *browser, const struct tally_profile_event *event)
{
	struct tally_profile_row row = {.size = sizeof(row)};
	struct walk walk = {.browser = browser,
			    .row = browser_find_function(browser, &browser->place),
			    .total = event->total ? (double)event->total : 1};
	struct browser_row shown;
	struct browser_line *line;
	int result;

	if (walk.row == UINT32_MAX ||
	    tally_profile_row(browser->profile, browser->event, walk.row, &row))
		return 0;
	shown = browser_row(browser, walk.row, &row);
	result = add_callers(&walk, &row, shown.id);
	if (!result)
		result = row_line(browser, &shown, event, &line);
	if (result)
		return result;
	line->opens = false;
	return add_callees(&walk, &row, shown.id);
}

/* --- all --- */

static int make_lines(struct browser *browser, const struct tally_profile_event *event)
{
	int result = 0;

	if (browser->place.view == BROWSER_FUNCTION)
		return add_function(browser, event);
	if (browser->place.want.part == BROWSER_STACKS)
		return add_stacks(browser, event);
	for (size_t i = 0; i < browser->shown_count && !result; i++)
		result = add_row(browser, &browser->shown[i], event);
	return result;
}

/* The line that was chosen before, where it is now. */
static void choose_again(struct browser *browser)
{
	struct browser_place *place = &browser->place;
	size_t before = place->cursor;

	/* The first line is where a reader looks: it stays chosen whatever is there. */
	if (before || place->view == BROWSER_FUNCTION)
		for (size_t i = 0; i < browser->line_count; i++)
			if (browser->lines[i].id == place->chosen) {
				place->cursor = i;
				return;
			}
	if (place->cursor >= browser->line_count)
		place->cursor = browser->line_count ? browser->line_count - 1 : 0;
	if (place->view != BROWSER_FUNCTION || place->chosen)
		return;
	for (size_t i = 0; i < browser->line_count; i++)
		if (!browser->lines[i].title && browser->lines[i].tree == BROWSER_NO_TREE)
			place->cursor = i;
}

int browser_renew(struct browser *browser)
{
	struct tally_profile_event event = {.size = sizeof(event)};
	int result;

	browser->line_count = 0;
	if (!browser->profile || browser->place.view == BROWSER_FLAME ||
	    tally_profile_event(browser->profile, browser->event, &event))
		return 0;
	result = make_lines(browser, &event);
	choose_again(browser);
	browser_move(browser, 0);
	return result;
}

/* Adds an id to those that were opened or closed by hand, or takes it away.  0 or -ENOMEM. */
static int turn(struct browser *browser, uint64_t id)
{
	size_t at = find_opened(browser, id);

	if (at < browser->opened_count) {
		browser->opened[at] = browser->opened[--browser->opened_count];
		return 0;
	}
	if (!cli_array_next(&browser->opened, &browser->opened_room, browser->opened_count,
			    sizeof(*browser->opened)))
		return -ENOMEM;
	browser->opened[browser->opened_count++] = id;
	return 0;
}

int browser_toggle(struct browser *browser, size_t number)
{
	int result;

	if (number >= browser->line_count || !browser->lines[number].opens)
		return 0;
	result = turn(browser, browser->lines[number].id);
	return result ? result : browser_renew(browser);
}

static int open_nodes(struct browser *browser, const struct tally_tree_node *nodes, uint32_t parent,
		      uint64_t parent_id, unsigned depth)
{
	const struct tally_tree_node *above = &nodes[parent];
	int result = 0;

	for (uint32_t i = 0; i < above->child_count && !result; i++) {
		const struct tally_tree_node *node = &nodes[above->first_child + i];
		uint64_t id = node_id(parent_id, node);

		if (browser->opened_count >= OPENED_MOST || depth >= DEPTH_MOST)
			return 0;
		if (node->child_count && !is_open(browser, above, node, id))
			result = turn(browser, id);
		if (!result)
			result = open_nodes(browser, nodes, above->first_child + i, id, depth + 1);
	}
	return result;
}

int browser_open_below(struct browser *browser, size_t number)
{
	struct browser_line line;
	const struct tally_tree *tree;
	int result = 0;

	if (number >= browser->line_count || !browser->lines[number].opens)
		return 0;
	if (!browser->lines[number].open)
		result = browser_toggle(browser, number);
	line = browser->lines[number];
	if (result || !line.open || number + 1 >= browser->line_count ||
	    browser->lines[number + 1].tree == BROWSER_NO_TREE)
		return result;
	tree = &browser->trees[browser->lines[number + 1].tree].tree;
	result = open_nodes(browser, tree->nodes,
			    line.tree == BROWSER_NO_TREE ? first_parent(tree) : line.node, line.id,
			    line.depth);
	return result ? result : browser_renew(browser);
}

int browser_close_all(struct browser *browser)
{
	browser->opened_count = 0;
	return browser_renew(browser);
}

void browser_move(struct browser *browser, int64_t lines)
{
	struct browser_place *place = &browser->place;
	int64_t to = (int64_t)place->cursor + lines;
	int64_t last = (int64_t)browser->line_count - 1;

	to = to < 0 || last < 0 ? 0 : to > last ? last : to;
	/* Titles are passed over, where something is behind them. */
	while (last >= 0 && browser->lines[to].title && to > 0 && to < last)
		to += lines < 0 ? -1 : 1;
	if (last > 0 && browser->lines[to].title)
		to += to ? -1 : 1;
	place->cursor = (size_t)to;
	if (last >= 0)
		place->chosen = browser->lines[to].id;
}

const struct browser_line *browser_chosen(const struct browser *browser)
{
	size_t at = browser->place.cursor;

	return at < browser->line_count && !browser->lines[at].title ? &browser->lines[at] : NULL;
}

bool browser_line_frame(const struct browser *browser, const struct browser_line *line,
			struct tally_frame *ret)
{
	struct tally_profile_row row = {.size = sizeof(row)};

	if (line->tree != BROWSER_NO_TREE) {
		*ret = browser->trees[line->tree].tree.nodes[line->node].frame;
		return true;
	}
	if (tally_profile_row(browser->profile, browser->event, line->row, &row) ||
	    !(row.frame.symbol || row.frame.place))
		return false;
	*ret = row.frame;
	return true;
}
