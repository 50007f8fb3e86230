/* What keys do to a browser. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "browser.h"
#include "screen.h"

#define WHEEL_LINES 3

int browser_wait_key(const struct browser *browser, struct cli_screen *screen)
{
	int key;

	do
		key = cli_screen_key(screen, browser->stop ? 200 : -1);
	while (key == CLI_KEY_NONE && !(browser->stop && *browser->stop));
	return key == CLI_KEY_NONE ? CLI_KEY_END_OF_INPUT : key;
}

int browser_clicked_key(const struct browser *browser, const struct cli_screen *screen, int key)
{
	int hint = key == CLI_KEY_CLICK ? browser_footer_click(browser, screen) : CLI_KEY_NONE;

	return hint == CLI_KEY_NONE ? key : hint;
}

/* --- filter, order, events --- */

static int choose_again(struct browser *browser)
{
	int result = browser_choose_rows(browser);

	return result ? result : browser_renew(browser);
}

static int filter_changed(struct browser *browser)
{
	browser->place.cursor = browser->place.first = 0;
	return choose_again(browser);
}

/* The filter grows and shrinks as it is typed; Enter ends it, Escape takes it away. */
static int type_filter(struct browser *browser, struct cli_screen *screen)
{
	struct browser_place place = browser->place;
	int result;

	if (place.want.part == BROWSER_STACKS || place.view != BROWSER_LIST) {
		browser_say(browser, "filters are for lists of rows; s searches here");
		return 0;
	}
	result = browser_go(browser, &place);
	if (!result)
		result = browser_prompt(browser, screen, "Filter: ", browser->place.filter,
					sizeof(browser->place.filter), filter_changed);
	if (result < 0)
		return result;
	/* Without a change there was no step. */
	if (!result || !strcmp(browser->place.filter, place.filter))
		return browser_back(browser);
	return 0;
}

static int next_sort(struct browser *browser)
{
	static const char *const names[] = {"its share with what it called", "its own share",
					    "its name"};

	if (browser->place.want.part == BROWSER_STACKS || browser->place.view != BROWSER_LIST) {
		browser_say(browser, "branches are always sorted by their shares");
		return 0;
	}
	browser->sort = (browser->sort + 1) % 3;
	/* Without children both shares are one. */
	if (browser->sort == BROWSER_BY_SELF && browser->profile &&
	    !tally_profile_has_children(browser->profile))
		browser->sort = BROWSER_BY_NAME;
	browser->place.cursor = browser->place.first = 0;
	browser_say(browser, "each row by %s", names[browser->sort]);
	return choose_again(browser);
}

static int next_event(struct browser *browser, bool forward)
{
	struct tally_profile_event event = {.size = sizeof(event)};
	size_t count = tally_profile_event_count(browser->profile), before = browser->event;

	do
		browser->event = (browser->event + (forward ? 1 : count - 1)) % count;
	while (browser->event != before &&
	       (tally_profile_event(browser->profile, browser->event, &event) || !event.samples));
	if (browser->event == before) {
		browser_say(browser, "there is one event");
		return 0;
	}
	/* Trees are of an event. */
	return browser_take(browser, browser->profile);
}

static int turn_trees(struct browser *browser)
{
	browser->order = browser->order == TALLY_CALLEE ? TALLY_CALLER : TALLY_CALLEE;
	browser_say(browser, browser->order == TALLY_CALLEE
				 ? "trees go from a function to its callers"
				 : "trees go from callers to what they called");
	return browser_take(browser, browser->profile);
}

static int hide(struct browser *browser, bool *which)
{
	*which = !*which;
	browser->place.cursor = browser->place.first = 0;
	return choose_again(browser);
}

/* --- moving --- */

/* Closes the line, or goes to the one that it is below. */
static int go_left(struct browser *browser)
{
	size_t at = browser->place.cursor;
	const struct browser_line *line = browser_chosen(browser);

	if (!line)
		return 0;
	if (line->open)
		return browser_toggle(browser, at);
	/* The lines of an only child are as deep as it is. */
	while (at && !browser->lines[at - 1].title && browser->lines[at].depth >= line->depth)
		at--;
	if (browser->lines[at].depth < line->depth)
		browser_move(browser, (int64_t)at - (int64_t)browser->place.cursor);
	return 0;
}

static int go_right(struct browser *browser)
{
	const struct browser_line *line = browser_chosen(browser);

	if (line && line->opens && !line->open)
		return browser_toggle(browser, browser->place.cursor);
	if (line && line->open)
		browser_move(browser, 1);
	return 0;
}

/* A click chooses a line, and one on the chosen line opens it. */
static int click(struct browser *browser, const struct cli_screen *screen)
{
	unsigned column, line = cli_screen_click(screen, &column), top = browser_top(browser);
	size_t at = browser->place.first + line - top;

	if (line + 1 == top - 1) { /* the names of the parts */
		static const unsigned ends[BROWSER_PARTS] = {14, 26, 39, 50};

		for (unsigned i = 0; i < BROWSER_PARTS; i++)
			if (column < ends[i])
				return browser_go_part(browser, (enum browser_part)i);
		return 0;
	}
	if (line < top || line >= top + browser_page(browser, screen) || at >= browser->line_count)
		return 0;
	if (at == browser->place.cursor)
		return browser_toggle(browser, at);
	browser_move(browser, (int64_t)at - (int64_t)browser->place.cursor);
	return 0;
}

/* A key that moves; false: it is another one. */
static bool moves(struct browser *browser, const struct cli_screen *screen, int key)
{
	int64_t all = (int64_t)browser->line_count, page = browser_page(browser, screen);

	switch (key) {
	case CLI_KEY_UP:
	case 'k':
		browser_move(browser, -1);
		return true;
	case CLI_KEY_DOWN:
	case 'j':
		browser_move(browser, 1);
		return true;
	case CLI_KEY_WHEEL_UP:
		browser_move(browser, -WHEEL_LINES);
		return true;
	case CLI_KEY_WHEEL_DOWN:
		browser_move(browser, WHEEL_LINES);
		return true;
	case CLI_KEY_PAGE_UP:
	case CLI_CTRL('b'):
		browser_move(browser, -page);
		return true;
	case CLI_KEY_PAGE_DOWN:
	case CLI_CTRL('f'):
	case ' ':
		browser_move(browser, page);
		return true;
	case CLI_CTRL('u'):
		browser_move(browser, -page / 2);
		return true;
	case CLI_CTRL('d'):
		browser_move(browser, page / 2);
		return true;
	case CLI_KEY_HOME:
	case 'g':
		browser_move(browser, -all);
		return true;
	case CLI_KEY_END:
	case 'G':
		browser_move(browser, all);
		return true;
	default:
		return false;
	}
}

/* --- keys --- */

/* Keys of lists; others are not known here. */
static int list_key(struct browser *browser, struct cli_screen *screen, int key)
{
	int result = 0;

	if (moves(browser, screen, key))
		return BROWSER_CHANGED;
	switch (key) {
	case CLI_KEY_ENTER:
		result = browser_toggle(browser, browser->place.cursor);
		break;
	case CLI_KEY_RIGHT:
	case 'l':
	case '+':
		result = go_right(browser);
		break;
	case CLI_KEY_LEFT:
	case 'h':
	case '-':
		result = go_left(browser);
		break;
	case CLI_KEY_CLICK:
		result = click(browser, screen);
		break;
	case 'e':
		result = browser_open_below(browser, browser->place.cursor);
		break;
	case 'C':
		result = browser_close_all(browser);
		break;
	case '/':
		result = type_filter(browser, screen);
		break;
	case 'o':
		result = next_sort(browser);
		break;
	case 't':
		result = browser_go_thread(browser);
		break;
	case 'd':
		result = browser_go_image(browser);
		break;
	case 'x':
		result = turn_trees(browser);
		break;
	case 'K':
		result = hide(browser, &browser->hide_kernel);
		break;
	case 'U':
		result = hide(browser, &browser->hide_user);
		break;
	default:
		return BROWSER_UNKNOWN;
	}
	return result < 0 ? result : BROWSER_CHANGED;
}

static bool chosen_frame(const struct browser *browser, struct tally_frame *ret)
{
	const struct browser_line *line;
	const struct tally_tree_node *node;

	if (browser->place.view == BROWSER_FLAME) {
		node = browser_flame_chosen(browser);
		if (node)
			*ret = node->frame;
		return node;
	}
	line = browser_chosen(browser);
	return line && browser_line_frame(browser, line, ret);
}

static int show_code(struct browser *browser, struct cli_screen *screen)
{
	struct tally_frame frame;

	if (chosen_frame(browser, &frame))
		return browser_code(browser, screen, &frame);
	browser_say(browser, "this row is not of a function");
	return BROWSER_CHANGED;
}

static int save(struct browser *browser, struct cli_screen *screen)
{
	char path[1024] = "perf.data";
	struct tally_error error = {0};
	int result;

	if (!browser->source->save) {
		browser_say(browser, "this is a recording already: there is nothing to save");
		return 0;
	}
	result = browser_prompt(browser, screen, "Save the newest samples as: ", path, sizeof(path),
				NULL);
	if (result <= 0 || !path[0])
		return result;
	if (browser->source->save(browser->source->context, path, &error))
		browser_say(browser, "%s", error.text);
	else
		browser_say(browser, "saved: tally report %s", path);
	return 0;
}

static int any_key(struct browser *browser, struct cli_screen *screen, int key)
{
	int result = 0;

	switch (key) {
	case CLI_KEY_ESCAPE:
	case CLI_KEY_BACKSPACE:
		result = browser_back(browser);
		break;
	case '1':
	case '2':
	case '3':
	case '4':
		result = browser_go_part(browser, (enum browser_part)(key - '1'));
		break;
	case 'c':
		result = browser_go_function(browser);
		break;
	case 'f':
		result = browser_go_flame(browser);
		break;
	case 'a':
		return show_code(browser, screen);
	case 'i':
		return browser_details(browser, screen);
	case 's':
		return browser_search(browser, screen);
	case 'n':
	case 'N':
		browser_find_next(browser, key == 'n');
		break;
	case '\t':
	case CLI_KEY_BACK_TAB:
		result = next_event(browser, key == '\t');
		break;
	case 'm':
		browser->no_mouse = !browser->no_mouse;
		cli_screen_mouse(screen, !browser->no_mouse);
		browser_say(browser,
			    browser->no_mouse
				? "the mouse selects text of the terminal; m: it chooses lines"
				: "the mouse chooses lines; m: it selects text");
		break;
	case 'w':
		result = save(browser, screen);
		break;
	case CLI_CTRL('l'):
		cli_screen_redraw(screen);
		break;
	case CLI_KEY_RESIZED:
		break;
	default:
		return BROWSER_UNKNOWN;
	}
	return result < 0 ? result : BROWSER_CHANGED;
}

int browser_key(struct browser *browser, struct cli_screen *screen, int key)
{
	int result = BROWSER_UNKNOWN;

	browser->message[0] = 0;
	key = browser_clicked_key(browser, screen, key);
	if (key == 'q' || key == CLI_KEY_END_OF_INPUT || key == CLI_CTRL('c'))
		return BROWSER_QUIT;
	if (key == '?')
		return browser_help(browser, screen);
	if (!browser->profile) {
		if (key != CLI_KEY_ESCAPE)
			return BROWSER_UNKNOWN;
		result = browser_back(browser);
		return result < 0 ? result : BROWSER_CHANGED;
	}
	if (browser->place.view == BROWSER_FLAME)
		result = browser_flame_key(browser, screen, key);
	else
		result = list_key(browser, screen, key);
	return result == BROWSER_UNKNOWN ? any_key(browser, screen, key) : result;
}
