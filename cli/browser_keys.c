/* What keys do to a browser. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "browser.h"
#include "screen.h"

static const char *const keys_help[] = {
    "Up Down j k      the line before, the next one",
    "PgUp PgDn Space  a screen up, down",
    "Home End g G     the first line, the last one",
    "Enter Right +    open or close the tree of a line",
    "Left             close, or go to the line that it is below",
    "c                close all",
    "/                filter: rows that contain a text, as you type",
    "t                only the program of this row",
    "d                only the binary of this row",
    "Esc              all rows again",
    "x                trees of callers, or of what was called",
    "Tab              the next event",
    "?                this help",
    "q                quit",
    NULL,
};

static void put_lines(struct cli_screen *screen, const char *const *lines, unsigned *line)
{
	unsigned width = cli_screen_width(screen);

	for (; lines && *lines; lines++)
		cli_screen_put(screen, (*line)++, 2, CLI_PLAIN, *lines, width > 2 ? width - 2 : 0);
}

void browser_help(struct cli_screen *screen, const char *const *more)
{
	unsigned line = 2;
	int key;

	cli_screen_clear(screen);
	cli_screen_put(screen, 0, 0, CLI_BOLD, "Keys", cli_screen_width(screen));
	put_lines(screen, more, &line);
	put_lines(screen, keys_help, &line);
	cli_screen_put(screen, line + 1, 2, CLI_DIM, "any key: back", 13);
	cli_screen_show(screen);
	do
		key = cli_screen_key(screen, -1);
	while (key == CLI_KEY_NONE);
}

/* The filter grows and shrinks as it is typed; Enter ends it, Esc takes it away. */
static int type_filter(struct browser *browser, struct cli_screen *screen)
{
	for (;;) {
		size_t length = strlen(browser->filter);
		unsigned height = cli_screen_height(screen), width = cli_screen_width(screen);
		char text[160];
		int key, result;

		cli_screen_clear(screen);
		browser_draw(browser, screen, 0, height > 1 ? height - 1 : 0);
		snprintf(text, sizeof(text), "Filter: %s_", browser->filter);
		cli_screen_put(screen, height - 1, 0, CLI_BOLD, text, width);
		cli_screen_show(screen);
		key = cli_screen_key(screen, -1);
		if (key == CLI_KEY_ENTER || key == CLI_KEY_END_OF_INPUT)
			return BROWSER_CHANGED;
		if (key == CLI_KEY_ESCAPE)
			browser->filter[0] = 0;
		else if (key == CLI_KEY_BACKSPACE && length)
			browser->filter[--length] = 0;
		else if (key > ' ' - 1 && key < 127 && length + 1 < sizeof(browser->filter)) {
			browser->filter[length] = (char)key;
			browser->filter[length + 1] = 0;
		}
		result = browser_renew(browser);
		if (result || key == CLI_KEY_ESCAPE)
			return result ? result : BROWSER_CHANGED;
	}
}

/* Only rows like the chosen one, by its program or its binary; again: all. */
static int zoom(struct browser *browser, bool comm)
{
	struct tally_profile_row row = {.size = sizeof(row)};
	char *to = comm ? browser->comm : browser->dso;
	size_t room = comm ? sizeof(browser->comm) : sizeof(browser->dso);
	const char *from;

	if (*to) {
		*to = 0;
		return browser_renew(browser);
	}
	if (browser->cursor >= browser->line_count ||
	    tally_profile_row(browser->profile, browser->event, browser->lines[browser->cursor].row,
			      &row))
		return 0;
	from = comm ? row.comm : row.frame.image_name;
	if (!from || strlen(from) >= room)
		return 0;
	memcpy(to, from, strlen(from) + 1);
	return browser_renew(browser);
}

/* Closes the line, or goes to the one that it is below. */
static int go_left(struct browser *browser)
{
	size_t at = browser->cursor;
	const struct browser_line *line;

	if (at >= browser->line_count)
		return 0;
	line = &browser->lines[at];
	if (line->open)
		return browser_toggle(browser, at);
	while (at && browser->lines[at].depth >= line->depth)
		at--;
	if (browser->lines[at].depth < line->depth)
		browser->cursor = at;
	return 0;
}

static int next_event(struct browser *browser)
{
	struct tally_profile_event event = {.size = sizeof(event)};
	size_t count = tally_profile_event_count(browser->profile), before = browser->event;

	do
		browser->event = (browser->event + 1) % count;
	while (browser->event != before &&
	       (tally_profile_event(browser->profile, browser->event, &event) || !event.samples));
	if (browser->event == before)
		return 0;
	/* Trees are of an event. */
	browser->cursor = 0;
	return browser_take(browser, browser->profile);
}

static int turn_trees(struct browser *browser)
{
	browser->order = browser->order == TALLY_CALLEE ? TALLY_CALLER : TALLY_CALLEE;
	return browser_take(browser, browser->profile);
}

static int show_all(struct browser *browser)
{
	browser->filter[0] = browser->comm[0] = browser->dso[0] = 0;
	return browser_renew(browser);
}

/* A key that moves; false: it is none. */
static bool moves(struct browser *browser, const struct cli_screen *screen, int key, unsigned page)
{
	int64_t all = (int64_t)browser->line_count;

	switch (key) {
	case CLI_KEY_UP:
	case 'k':
		browser_move(browser, -1);
		return true;
	case CLI_KEY_DOWN:
	case 'j':
		browser_move(browser, 1);
		return true;
	case CLI_KEY_PAGE_UP:
		browser_move(browser, -(int64_t)page);
		return true;
	case CLI_KEY_PAGE_DOWN:
	case ' ':
		browser_move(browser, page);
		return true;
	case CLI_KEY_HOME:
	case 'g':
		browser_move(browser, -all);
		return true;
	case CLI_KEY_END:
	case 'G':
		browser_move(browser, all);
		return true;
	case CLI_KEY_CLICK: {
		unsigned height = cli_screen_height(screen), at = cli_screen_click(screen);
		unsigned top = height - 1 - page; /* the bar at the bottom is the last line */

		if (at >= top && at < top + page && browser->first + at - top < browser->line_count)
			browser->cursor = browser->first + at - top;
		return true;
	}
	default:
		return false;
	}
}

int browser_key(struct browser *browser, struct cli_screen *screen, int key, unsigned page)
{
	int result = 0;

	if (key == 'q' || key == CLI_KEY_END_OF_INPUT)
		return BROWSER_QUIT;
	if (!browser->profile)
		return BROWSER_UNKNOWN;
	if (moves(browser, screen, key, page))
		return BROWSER_CHANGED;
	if (key == CLI_KEY_ENTER || key == CLI_KEY_RIGHT || key == '+')
		result = browser_toggle(browser, browser->cursor);
	else if (key == CLI_KEY_LEFT || key == '-')
		result = go_left(browser);
	else if (key == 'c')
		result = browser_close_all(browser);
	else if (key == '/')
		result = type_filter(browser, screen);
	else if (key == 't')
		result = zoom(browser, true);
	else if (key == 'd')
		result = zoom(browser, false);
	else if (key == CLI_KEY_ESCAPE)
		result = show_all(browser);
	else if (key == 'x')
		result = turn_trees(browser);
	else if (key == '\t')
		result = next_event(browser);
	else if (key != CLI_KEY_RESIZED)
		return BROWSER_UNKNOWN;
	return result < 0 ? result : BROWSER_CHANGED;
}
