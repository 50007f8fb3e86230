#include "browser.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>

/* Branches below this share of the event are not shown. */
#define TREE_LEAST 0.5
/* Columns at most. */
#define COMM_MOST 15U
#define DSO_MOST  24U

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
	return hash ^ hash >> 32;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
	return mix(hash, 0);
}

static uint64_t frame_id(uint64_t hash, const struct tally_frame *frame)
{
	return mix(mix_text(mix_text(hash, frame->image_name), frame->symbol), frame->place);
}

static uint64_t row_id(const struct tally_profile *profile, const struct tally_profile_row *row)
{
	uint64_t hash = mix_text(frame_id(1, &row->frame), row->comm);
	const char *const *keys;
	size_t count;

	keys = tally_profile_keys(profile, &count);
	for (size_t i = 0; i < count; i++)
		if (strcmp(keys[i], "comm") != 0 && strcmp(keys[i], "dso") != 0 &&
		    strcmp(keys[i], "symbol") != 0)
			hash = mix(hash, row->values[i]);
	return hash;
}

/* Room for one more element of an array; false: out of memory. */
static bool room_for(void *array, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? *room * 2 : 64;
	void *old, *new;

	if (count < *room)
		return true;
	memcpy(&old, array, sizeof(old));
	new = reallocarray(old, more, size);
	if (!new)
		return false;
	memcpy(array, &new, sizeof(new));
	*room = more;
	return true;
}

static void free_trees(struct browser *browser)
{
	for (size_t i = 0; i < browser->tree_count; i++)
		tally_tree_done(&browser->trees[i].tree);
	browser->tree_count = 0;
}

void browser_done(struct browser *browser)
{
	free_trees(browser);
	free(browser->trees);
	free(browser->lines);
	free(browser->opened);
	*browser = (struct browser){0};
}

static size_t find_opened(const struct browser *browser, uint64_t id)
{
	size_t at = 0;

	while (at < browser->opened_count && browser->opened[at] != id)
		at++;
	return at;
}

/* --- which rows are shown --- */

static bool contains(const char *text, const char *part)
{
	return text && strcasestr(text, part);
}

static bool shows(const struct browser *browser, const struct tally_profile_row *row)
{
	char address[256];
	bool kernel = row->frame.level == 'k' || row->frame.level == 'g';

	if (kernel ? browser->hide_kernel : browser->hide_user && row->frame.level)
		return false;
	if (browser->comm[0] && (!row->comm || strcmp(row->comm, browser->comm) != 0))
		return false;
	if (browser->dso[0] &&
	    (!row->frame.image_name || strcmp(row->frame.image_name, browser->dso) != 0))
		return false;
	if (!browser->filter[0])
		return true;
	browser_frame_text(&row->frame, address, sizeof(address));
	return contains(row->comm, browser->filter) ||
	       contains(row->frame.image_name, browser->filter) ||
	       contains(row->frame.symbol ? row->frame.symbol : address, browser->filter);
}

/* --- lines --- */

static struct browser_line *add_line(struct browser *browser)
{
	if (!room_for(&browser->lines, browser->line_count, &browser->line_room,
		      sizeof(*browser->lines)))
		return NULL;
	browser->lines[browser->line_count] = (struct browser_line){.tree = BROWSER_NO_TREE};
	return &browser->lines[browser->line_count++];
}

/* The tree of a row, made when it is needed; NULL: it has none, *ret_result < 0: out of memory. */
static struct browser_tree *tree_of(struct browser *browser, const struct tally_profile_row *row,
				    uint64_t id, uint64_t total, int *ret_result)
{
	struct tally_tree_options options = {
	    .size = sizeof(options),
	    .order = browser->order,
	    .least = (uint64_t)((double)total * TREE_LEAST / 100),
	};
	struct browser_tree *tree;
	int result;

	for (size_t i = 0; i < browser->tree_count; i++)
		if (browser->trees[i].row_id == id)
			return &browser->trees[i];
	if (!room_for(&browser->trees, browser->tree_count, &browser->tree_room,
		      sizeof(*browser->trees))) {
		*ret_result = -ENOMEM;
		return NULL;
	}
	tree = &browser->trees[browser->tree_count];
	tree->row_id = id;
	result = tally_profile_tree(browser->profile, browser->event, row, &options, &tree->tree);
	if (result) {
		*ret_result = result == -ENOMEM ? result : 0;
		return NULL;
	}
	browser->tree_count++;
	return tree;
}

struct walk {
	struct browser *browser;
	uint32_t row, tree;
	double total;
};

/* The nodes below one.  An only child is open unless somebody closed it.  0 or -ENOMEM. */
static int add_nodes(const struct walk *walk, uint32_t parent, uint64_t parent_id, unsigned depth)
{
	struct browser *browser = walk->browser;
	struct tally_tree tree = browser->trees[walk->tree].tree;
	const struct tally_tree_node *above = &tree.nodes[parent];

	for (uint32_t i = 0; i < above->child_count; i++) {
		uint32_t number = above->first_child + i;
		const struct tally_tree_node *node = &tree.nodes[number];
		struct browser_line *line = add_line(browser);
		uint64_t id = frame_id(mix(parent_id, 3), &node->frame);
		bool open;

		if (!line)
			return -ENOMEM;
		open = node->child_count && (above->child_count == 1) !=
						(find_opened(browser, id) < browser->opened_count);
		*line = (struct browser_line){
		    .id = id,
		    .row = walk->row,
		    .tree = walk->tree,
		    .node = number,
		    .depth = depth,
		    .opens = node->child_count > 0,
		    .open = open,
		    .share = 100.0 * (double)node->total / walk->total,
		    .self = 100.0 * (double)node->self / walk->total,
		};
		if (open && depth < 512 &&
		    add_nodes(walk, number, id, depth + (node->child_count > 1)))
			return -ENOMEM;
	}
	return 0;
}

/* The node below which the tree of a row begins: not the row itself, nor its only child when that
 * is the same function. */
static uint32_t first_parent(const struct tally_tree *tree)
{
	const struct tally_tree_node *root = tree->nodes, *child = &root[root->first_child];

	return root->child_count == 1 && child->frame.symbol &&
		       child->frame.symbol == root->frame.symbol &&
		       child->frame.place == root->frame.place
		   ? root->first_child
		   : 0;
}

static int add_row(struct browser *browser, uint32_t number, const struct tally_profile_row *row,
		   const struct tally_profile_event *event)
{
	double total = event->total ? (double)event->total : 1;
	struct browser_line *line = add_line(browser);
	const struct browser_tree *tree;
	struct walk walk = {.browser = browser, .row = number, .total = total};
	int result = 0;

	if (!line)
		return -ENOMEM;
	line->id = row_id(browser->profile, row);
	line->row = number;
	line->share = 100.0 * (double)row->children / total;
	line->self = 100.0 * (double)row->self / total;
	line->opens = event->has_callchains;
	line->open = line->opens && find_opened(browser, line->id) < browser->opened_count;
	if (!line->open)
		return 0;
	tree = tree_of(browser, row, line->id, event->total, &result);
	if (!tree)
		return result;
	walk.tree = (uint32_t)(tree - browser->trees);
	return add_nodes(&walk, first_parent(&tree->tree), line->id, 1);
}

static void widen(unsigned *width, const char *name, unsigned most)
{
	size_t length = name ? strnlen(name, most) : 0;

	if (length > *width)
		*width = (unsigned)length;
}

int browser_renew(struct browser *browser)
{
	struct tally_profile_event event = {.size = sizeof(event)};
	struct tally_profile_row row = {.size = sizeof(row)};
	uint64_t chosen =
	    browser->cursor < browser->line_count ? browser->lines[browser->cursor].id : 0;
	size_t before = browser->cursor;

	browser->line_count = 0;
	if (!browser->profile || tally_profile_event(browser->profile, browser->event, &event))
		return 0;
	for (uint64_t i = 0; i < event.row_count && i < UINT32_MAX; i++) {
		int result = tally_profile_row(browser->profile, browser->event, i, &row);

		if (result)
			break;
		if ((double)row.children < browser->percent_limit / 100 * (double)event.total ||
		    !shows(browser, &row))
			continue;
		widen(&browser->comm_width, row.comm, COMM_MOST);
		widen(&browser->dso_width, row.frame.image_name, DSO_MOST);
		result = add_row(browser, (uint32_t)i, &row, &event);
		if (result)
			return result;
	}
	browser->cursor = 0;
	/* The first line is where a reader looks: it stays chosen whatever is there. */
	for (size_t i = 0; before && i < browser->line_count; i++)
		if (browser->lines[i].id == chosen)
			browser->cursor = i;
	if (before && !browser->cursor && browser->line_count)
		browser->cursor = before < browser->line_count ? before : browser->line_count - 1;
	return 0;
}

int browser_take(struct browser *browser, struct tally_profile *profile)
{
	free_trees(browser);
	browser->profile = profile;
	browser->comm_width = browser->dso_width = 4;
	return browser_renew(browser);
}

int browser_toggle(struct browser *browser, size_t number)
{
	const struct browser_line *line;
	size_t at;

	if (number >= browser->line_count || !browser->lines[number].opens)
		return 0;
	line = &browser->lines[number];
	at = find_opened(browser, line->id);
	if (at < browser->opened_count) {
		browser->opened[at] = browser->opened[--browser->opened_count];
		return browser_renew(browser);
	}
	if (!room_for(&browser->opened, browser->opened_count, &browser->opened_room,
		      sizeof(*browser->opened)))
		return -ENOMEM;
	browser->opened[browser->opened_count++] = line->id;
	return browser_renew(browser);
}

int browser_close_all(struct browser *browser)
{
	browser->opened_count = 0;
	return browser_renew(browser);
}

void browser_move(struct browser *browser, int64_t lines)
{
	int64_t to = (int64_t)browser->cursor + lines;
	int64_t last = (int64_t)browser->line_count - 1;

	browser->cursor = (size_t)(to < 0 || last < 0 ? 0 : to > last ? last : to);
}
