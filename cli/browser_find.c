/* Searching: the next line, or block, that contains a text. */
#include <stdio.h>
#include <string.h>
#include "browser.h"
#include "screen.h"

static bool line_matches(const struct browser *browser, size_t number)
{
	const struct browser_line *line = &browser->lines[number];
	struct tally_profile_row row = {.size = sizeof(row)};
	struct tally_frame frame;
	char text[2048];

	if (line->title)
		return false;
	if (browser_line_frame(browser, line, &frame) && frame.symbol &&
	    strcasestr(frame.symbol, browser->search))
		return true;
	if (line->tree == BROWSER_NO_TREE &&
	    !tally_profile_row(browser->profile, browser->event, line->row, &row) &&
	    ((row.comm && strcasestr(row.comm, browser->search)) ||
	     (row.frame.image_name && strcasestr(row.frame.image_name, browser->search))))
		return true;
	browser_text(browser, line, 1000, text, sizeof(text));
	return strcasestr(text, browser->search);
}

static bool block_matches(const struct browser *browser, size_t number)
{
	char text[2048];

	browser_frame_text(&browser->flame.tree.nodes[browser->flame.blocks[number].node].frame,
			   UINT32_MAX, text, sizeof(text));
	return strcasestr(text, browser->search);
}

void browser_find_next(struct browser *browser, bool forward)
{
	struct browser_place *place = &browser->place;
	bool flame = place->view == BROWSER_FLAME;
	size_t count = flame ? browser->flame.block_count : browser->line_count;
	size_t at = place->cursor;

	if (!browser->search[0]) {
		browser_say(browser, "nothing was searched for yet: s searches");
		return;
	}
	for (size_t i = 0; i < count; i++) {
		bool wrapped;

		at = forward ? (at + 1) % count : (at + count - 1) % count;
		wrapped = forward ? at <= place->cursor : at >= place->cursor;
		if (!(flame ? block_matches(browser, at) : line_matches(browser, at)))
			continue;
		if (wrapped)
			browser_say(browser, "searched on from the %s",
				    forward ? "first line" : "last line");
		place->cursor = at;
		place->chosen = flame ? browser->flame.blocks[at].id : browser->lines[at].id;
		return;
	}
	browser_say(browser, "'%s' is in no line that is shown", browser->search);
}

int browser_search(struct browser *browser, struct cli_screen *screen)
{
	char before[sizeof(browser->search)];
	int result;

	memcpy(before, browser->search, sizeof(before));
	browser->search[0] = 0;
	result = browser_prompt(browser, screen, "Search: ", browser->search,
				sizeof(browser->search), NULL);
	if (result == 1 && !browser->search[0])
		memcpy(browser->search, before, sizeof(before)); /* the same again */
	if (result == 1)
		browser_find_next(browser, true);
	else
		browser->search[0] = 0; /* and nothing is marked */
	return result < 0 ? result : BROWSER_CHANGED;
}
