/* Pages that a key ends: all keys, and what is chosen with whole names. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tally/report.h>
#include <tally/text.h>
#include "browser.h"
#include "screen.h"

struct help {
	char keys[20], does[36]; /* keys "": a heading */
};

/* At 80 columns, the texts have 22 and 30 of them. */
static const struct help left[] = {
    {"", "Move"},
    {"Up Down  j k", "a line; the wheel"},
    {"PgUp PgDn  Space", "a screen; also ^B ^F"},
    {"^U ^D", "half a screen"},
    {"Home End  g G", "first, last line"},
    {"Enter", "open or close; a click"},
    {"Right Left  l h", "open; close, go up"},
    {"e", "open all below"},
    {"C", "close all"},
    {"", "Find"},
    {"/", "filter as you type"},
    {"s", "search a text"},
    {"n N", "the next, the last one"},
    {"o", "sort: total self name"},
    {"K U", "hide kernel, user"},
    {"i", "whole names, to copy"},
    {"m", "mouse: lines or text"},
};

static const struct help right[] = {
    {"", "Go to"},
    {"1 2 3 4", "a list of the first line"},
    {"c", "callers and callees"},
    {"f", "flame view; Enter zooms"},
    {"a", "code, its hottest instruction"},
    {"t", "only this thread, or program"},
    {"d", "only this binary"},
    {"x", "trees: of callers, of callees"},
    {"Tab", "the next event"},
    {"Esc", "one step back"},
    {"", "Other"},
    {"?", "this help"},
    {"^L", "draw anew"},
    {"q", "quit"},
};

/* The part of the help that a screen shows. */
struct help_page {
	struct cli_screen *screen;
	unsigned top, end; /* lines of the screen */
	unsigned first;    /* line of the help at `top` */
};

static void put_part(const struct help_page *page, unsigned line, unsigned column,
		     enum cli_style style, const char *text)
{
	unsigned width = cli_screen_width(page->screen), at = page->top + line - page->first;

	if (line >= page->first && at < page->end && column < width)
		cli_screen_put(page->screen, at, column, style, text, width - column);
}

/* `line`: of the help.  The one behind. */
static unsigned put_help(const struct help_page *page, const struct help *list, size_t count,
			 unsigned line, unsigned column, unsigned indent)
{
	for (size_t i = 0; i < count; i++, line++) {
		if (list[i].keys[0])
			put_part(page, line, column + 1, CLI_WARM, list[i].keys);
		put_part(page, line, column + (list[i].keys[0] ? indent : 0),
			 list[i].keys[0] ? CLI_PLAIN : CLI_BOLD, list[i].does);
	}
	return line;
}

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

/* How many lines the help has. */
static unsigned put_lists(const struct help_page *page, const struct browser_hint *own)
{
	unsigned width = cli_screen_width(page->screen), half = width >= 76 ? width / 2 : 0, line,
		 other = 0;

	if (half)
		other = put_help(page, left, COUNT(left), 0, 0, 18);
	line = put_help(page, right, COUNT(right), 0, half, 9);
	for (; own && own->name; own++, line++) {
		put_part(page, line, half + 1, CLI_WARM, own->name);
		put_part(page, line, half + 9, CLI_PLAIN, own->does);
	}
	if (!half)
		line = put_help(page, left, COUNT(left), line, 0, 18);
	return line > other ? line : other;
}

/* Lines up or down; 0: it is another key. */
static int scroll_of(int key, unsigned lines)
{
	switch (key) {
	case CLI_KEY_UP:
	case 'k':
		return -1;
	case CLI_KEY_DOWN:
	case 'j':
		return 1;
	case CLI_KEY_WHEEL_UP:
		return -3;
	case CLI_KEY_WHEEL_DOWN:
		return 3;
	case CLI_KEY_PAGE_UP:
		return -(int)lines;
	case CLI_KEY_PAGE_DOWN:
	case ' ':
		return (int)lines;
	default:
		return 0;
	}
}

int browser_help(struct browser *browser, struct cli_screen *screen)
{
	unsigned first = 0;

	for (;;) {
		unsigned width = cli_screen_width(screen), height = cli_screen_height(screen);
		struct help_page page = {screen, height > 20 ? 2 : 1, height, first};
		unsigned lines = page.end > page.top ? page.end - page.top : 1, all, last;
		int key, by;

		cli_screen_clear(screen);
		cli_screen_put(screen, 0, 0, CLI_BOLD, "Keys", width);
		all = put_lists(&page, browser->own);
		last = all > lines ? all - lines : 0;
		cli_screen_put(screen, 0, 6, CLI_DIM,
			       !last ? "any key: back" : "Down Up: more; any other key: back",
			       width - 6);
		if (first > last) { /* the screen grew */
			first = last;
			continue;
		}
		cli_screen_show(screen);
		key = browser_wait_key(browser, screen);
		if (key == CLI_KEY_END_OF_INPUT)
			return BROWSER_QUIT;
		by = last ? scroll_of(key, lines) : 0;
		if (by)
			first = by < 0 && first < (unsigned)-by ? 0
				: first + (unsigned)by > last   ? last
								: first + (unsigned)by;
		else if (key != CLI_KEY_RESIZED)
			return BROWSER_CHANGED;
	}
}

/* --- what is chosen --- */

struct page {
	struct cli_screen *screen;
	unsigned line;
};

/* A text over as many lines as it needs, from the first column on, so that it can be copied. */
static void put_text(struct page *page, enum cli_style style, const char *text)
{
	unsigned width = cli_screen_width(page->screen), height = cli_screen_height(page->screen);

	do {
		unsigned columns = 0;

		if (page->line + 1 >= height)
			return;
		cli_screen_put(page->screen, page->line++, 0, style, text, width);
		while (*text && columns < width) {
			do
				text++;
			while (((unsigned char)*text & 0xc0) == 0x80);
			columns++;
		}
	} while (*text);
}

static void put_name(struct page *page, const char *title, const char *name)
{
	char text[8192];

	if (!name)
		return;
	put_text(page, CLI_DIM, title);
	tally_text_escape(name, text, sizeof(text));
	put_text(page, CLI_PLAIN, text);
}

static void put_frame(struct page *page, const struct tally_frame *frame)
{
	char text[8192];

	if (frame->symbol || frame->place) {
		browser_frame_text(frame, UINT32_MAX, text, sizeof(text));
		put_text(page, CLI_DIM, "Function");
		put_text(page, CLI_PLAIN, text);
	}
	put_name(page, "Binary",
		 frame->image_path && frame->image_path[0] ? frame->image_path : frame->image_name);
	if (frame->place) {
		snprintf(text, sizeof(text), "0x%" PRIx64, frame->place);
		put_name(page, frame->symbol ? "Its place in the file" : "Place in the file", text);
	}
}

static void put_row(struct page *page, const struct browser *browser,
		    const struct tally_profile_row *row)
{
	char text[8192];

	for (size_t i = 0; i < browser->column_count; i++) {
		const struct browser_column *column = &browser->columns[i];

		if (column->function || !strcmp(column->key, "dso"))
			continue;
		browser_cell(browser, row, column, UINT32_MAX, text, sizeof(text));
		put_text(page, CLI_DIM, column->title);
		put_text(page, CLI_PLAIN, text);
	}
	snprintf(text, sizeof(text),
		 row->samples == 1 ? "%" PRIu64 " sample of its own, whose period is %" PRIu64
				     "; with what it called %" PRIu64
				   : "%" PRIu64 " samples of its own, whose periods are %" PRIu64
				     "; with what it called %" PRIu64,
		 row->samples, row->self, row->children);
	put_text(page, CLI_DIM, "Sums");
	put_text(page, CLI_PLAIN, text);
}

static void draw_details(const struct browser *browser, struct cli_screen *screen)
{
	const struct tally_tree_node *node =
	    browser->place.view == BROWSER_FLAME ? browser_flame_chosen(browser) : NULL;
	const struct browser_line *line = node ? NULL : browser_chosen(browser);
	struct tally_profile_row row = {.size = sizeof(row)};
	struct page page = {.screen = screen};
	struct tally_frame frame;

	cli_screen_clear(screen);
	if (node)
		put_frame(&page, &node->frame);
	else if (line && browser_line_frame(browser, line, &frame))
		put_frame(&page, &frame);
	if (line && line->tree == BROWSER_NO_TREE &&
	    !tally_profile_row(browser->profile, browser->event, line->row, &row)) {
		if (!row.frame.symbol && !row.frame.place)
			put_name(&page, "Binary", row.frame.image_path);
		put_row(&page, browser, &row);
	}
	cli_screen_put(screen, cli_screen_height(screen) - 1, 0, CLI_DIM,
		       "any key: back.  The terminal selects text now.", cli_screen_width(screen));
	cli_screen_show(screen);
}

int browser_details(struct browser *browser, struct cli_screen *screen)
{
	int key;

	cli_screen_mouse(screen, false);
	do {
		draw_details(browser, screen);
		key = browser_wait_key(browser, screen);
	} while (key == CLI_KEY_RESIZED);
	cli_screen_mouse(screen, !browser->no_mouse);
	return key == CLI_KEY_END_OF_INPUT ? BROWSER_QUIT : BROWSER_CHANGED;
}
