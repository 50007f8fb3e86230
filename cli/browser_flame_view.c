/* The blocks of the flame view on a screen, and the keys that lead from one to the next. */
#include <stdio.h>
#include <string.h>
#include "browser.h"
#include "screen.h"

#define NAME_LEAST 4U
#define NAME_WHOLE 24U

static void put_block(const struct browser *browser, struct cli_screen *screen, unsigned line,
		      const struct browser_block *block, bool chosen)
{
	const struct tally_frame *frame = &browser->flame.tree.nodes[block->node].frame;
	/* A gap between neighbours, where there is room for one. */
	unsigned width = block->width > 1 ? block->width - 1 : 1;
	enum cli_style style = frame->level == 'k' || frame->level == 'g' ? CLI_BLOCK_KERNEL
			       : block->id >> 7 & 1                       ? CLI_BLOCK_OTHER
									  : CLI_BLOCK;
	char name[512], text[1024];

	*name = 0;
	/* Fewer letters say nothing; of a few, the first ones say most. */
	if (width >= NAME_LEAST)
		browser_frame_text(frame, width < NAME_WHOLE ? UINT32_MAX : width, name,
				   sizeof(name));
	if (browser->search[0] && frame->symbol && strcasestr(frame->symbol, browser->search))
		style = CLI_FOUND;
	if (chosen)
		style = CLI_BLOCK_CHOSEN;
	snprintf(text, sizeof(text), "%s%*s", name, (int)(width < 500 ? width : 500), "");
	cli_screen_put(screen, line, block->column, style, text, width);
}

/* What the chosen block is, whole. */
static void put_chosen(const struct browser *browser, struct cli_screen *screen, unsigned line)
{
	const struct tally_tree_node *node = browser_flame_chosen(browser);
	unsigned width = cli_screen_width(screen);
	double total = browser->flame.total ? (double)browser->flame.total : 1;
	char name[2048], text[4096];

	if (!node)
		return;
	browser_frame_text(&node->frame, width > 44 ? width - 44 : width, name, sizeof(name));
	snprintf(text, sizeof(text), "%.2f%%, itself %.2f%%  %s  (%s)",
		 100 * (double)node->total / total, 100 * (double)node->self / total, name,
		 node->frame.image_name ? node->frame.image_name : "unknown");
	cli_screen_put(screen, line, 0, CLI_BOLD, text, width);
}

void browser_flame_draw(struct browser *browser, struct cli_screen *screen, unsigned top,
			unsigned height)
{
	struct browser_flame *flame = &browser->flame;
	unsigned rows = height > 1 ? height - 1 : 1, depth;

	if (browser_flame_place(browser, cli_screen_width(screen)) || !flame->block_count) {
		cli_screen_put(screen, top, 2, CLI_PLAIN, "no call stacks here; Esc goes back",
			       cli_screen_width(screen) - 2);
		return;
	}
	depth = flame->blocks[browser->place.cursor].depth;
	if (depth < flame->first)
		flame->first = depth;
	if (depth >= flame->first + rows)
		flame->first = depth - rows + 1;
	for (size_t i = 0; i < flame->block_count; i++) {
		const struct browser_block *block = &flame->blocks[i];

		if (block->depth >= flame->first && block->depth < flame->first + rows)
			put_block(browser, screen, top + block->depth - flame->first, block,
				  i == browser->place.cursor);
	}
	put_chosen(browser, screen, top + rows);
}

/* --- keys --- */

static bool choose(struct browser *browser, size_t number)
{
	browser->place.cursor = number;
	browser->place.chosen = browser->flame.blocks[number].id;
	return true;
}

/* The block of that id. */
static bool choose_id(struct browser *browser, uint64_t id)
{
	for (size_t i = 0; i < browser->flame.block_count; i++)
		if (browser->flame.blocks[i].id == id)
			return choose(browser, i);
	return false;
}

/* The widest block below. */
static bool go_below(struct browser *browser, uint64_t id)
{
	const struct browser_flame *flame = &browser->flame;
	size_t best = flame->block_count;

	for (size_t i = 0; i < flame->block_count; i++)
		if (flame->blocks[i].parent == id &&
		    (best == flame->block_count ||
		     flame->blocks[i].width > flame->blocks[best].width))
			best = i;
	return best < flame->block_count && choose(browser, best);
}

/* The neighbour on the same line. */
static bool go_beside(struct browser *browser, bool right)
{
	const struct browser_flame *flame = &browser->flame;
	size_t at = browser->place.cursor, to = right ? at + 1 : at - 1;

	return (right || at) && to < flame->block_count &&
	       flame->blocks[to].depth == flame->blocks[at].depth && choose(browser, to);
}

/* The first or last block of a depth that has as much of the chosen one as possible. */
static void go_depth(struct browser *browser, int64_t by)
{
	const struct browser_flame *flame = &browser->flame;
	struct browser_block from = flame->blocks[browser->place.cursor];
	int64_t depth = (int64_t)from.depth + by;
	size_t best = browser->place.cursor;

	for (size_t i = 0; i < flame->block_count; i++) {
		const struct browser_block *block = &flame->blocks[i];

		if ((by < 0 ? block->depth >= depth || depth < 0 : block->depth <= depth) &&
		    block->column <= from.column && from.column < block->column + block->width &&
		    (by < 0 ? block->depth < flame->blocks[best].depth
			    : block->depth > flame->blocks[best].depth))
			best = i;
	}
	choose(browser, best);
}

static int zoom(struct browser *browser)
{
	struct browser_place place = browser->place;

	if (place.root == place.chosen || browser->place.cursor >= browser->flame.block_count)
		return 0;
	place.root = place.chosen;
	return browser_go(browser, &place);
}

static int click(struct browser *browser, const struct cli_screen *screen)
{
	const struct browser_flame *flame = &browser->flame;
	unsigned column, line = cli_screen_click(screen, &column), top = browser_top(browser);

	for (size_t i = 0; i < flame->block_count && line >= top; i++) {
		const struct browser_block *block = &flame->blocks[i];

		if (block->depth != flame->first + line - top || column < block->column ||
		    column >= block->column + block->width)
			continue;
		if (i == browser->place.cursor)
			return zoom(browser);
		choose(browser, i);
		return 0;
	}
	return 0;
}

int browser_flame_key(struct browser *browser, struct cli_screen *screen, int key)
{
	struct browser_flame *flame = &browser->flame;
	const struct browser_block *block;
	int64_t page = browser_page(browser, screen);
	int result = 0;

	if (browser->place.cursor >= flame->block_count)
		return BROWSER_UNKNOWN;
	block = &flame->blocks[browser->place.cursor];
	switch (key) {
	case CLI_KEY_UP:
	case 'k':
	case CLI_KEY_WHEEL_UP:
		choose_id(browser, block->parent);
		break;
	case CLI_KEY_DOWN:
	case 'j':
	case CLI_KEY_WHEEL_DOWN:
		go_below(browser, block->id);
		break;
	case CLI_KEY_LEFT:
	case 'h':
		go_beside(browser, false);
		break;
	case CLI_KEY_RIGHT:
	case 'l':
		go_beside(browser, true);
		break;
	case CLI_KEY_PAGE_UP:
	case CLI_CTRL('b'):
		go_depth(browser, -page);
		break;
	case CLI_KEY_PAGE_DOWN:
	case CLI_CTRL('f'):
	case ' ':
		go_depth(browser, page);
		break;
	case CLI_KEY_HOME:
	case 'g':
		choose(browser, 0);
		break;
	case CLI_KEY_END:
	case 'G':
		go_depth(browser, INT32_MAX);
		break;
	case CLI_KEY_ENTER:
	case '+':
		result = zoom(browser);
		break;
	case CLI_KEY_CLICK:
		result = click(browser, screen);
		break;
	default:
		return BROWSER_UNKNOWN;
	}
	return result < 0 ? result : BROWSER_CHANGED;
}
