/* The last line: the keys of the moment, or a message. */
#include <string.h>
#include "browser.h"
#include "screen.h"

static unsigned length_of(const struct browser_hint *hint)
{
	return (unsigned)(strlen(hint->name) + strlen(hint->does) + 3);
}

static unsigned put_hint(struct browser *browser, struct cli_screen *screen,
			 const struct browser_hint *hint, unsigned column)
{
	unsigned line = cli_screen_height(screen) - 1, width = cli_screen_width(screen);
	unsigned begin = column;

	column += cli_screen_put(screen, line, column, CLI_BAR_KEY, hint->name, width - column);
	column += cli_screen_put(screen, line, column, CLI_BAR, " ", width - column);
	column += cli_screen_put(screen, line, column, CLI_BAR, hint->does, width - column);
	if (browser->hint_count < BROWSER_HINTS_MOST) {
		browser->hints[browser->hint_count].column = begin;
		browser->hints[browser->hint_count].end = column;
		browser->hints[browser->hint_count++].key = hint->key;
	}
	return column + cli_screen_put(screen, line, column, CLI_BAR, "  ", width - column);
}

void browser_draw_message(struct browser *browser)
{
	struct cli_screen *screen = browser->screen;
	unsigned height = cli_screen_height(screen), width = cli_screen_width(screen);

	if (!height)
		return;
	cli_screen_blank(screen, height - 1,
			 cli_screen_put(screen, height - 1, 0, CLI_BOLD, browser->message, width));
	cli_screen_show(screen);
}

void browser_draw_footer(struct browser *browser, struct cli_screen *screen,
			 const struct browser_hint *hints)
{
	static const struct browser_hint ends[] = {{'?', "?", "help"}, {'q', "q", "quit"}};
	unsigned height = cli_screen_height(screen), width = cli_screen_width(screen), column = 0;
	unsigned rest = length_of(&ends[0]) + length_of(&ends[1]);

	browser->hint_count = 0;
	if (!height)
		return;
	if (browser->message[0]) {
		cli_screen_put(screen, height - 1, 0, CLI_BOLD, browser->message, width);
		return;
	}
	/* As many as there is room for; help and quit always. */
	for (const struct browser_hint *hint = hints; hint->name; hint++)
		if (column + length_of(hint) + rest <= width + 2)
			column = put_hint(browser, screen, hint, column);
	for (size_t i = 0; i < 2; i++)
		column = put_hint(browser, screen, &ends[i], column);
	cli_screen_fill(screen, height - 1, column < width ? column : width, CLI_BAR);
}

int browser_footer_click(const struct browser *browser, const struct cli_screen *screen)
{
	unsigned column;

	if (cli_screen_click(screen, &column) + 1 != cli_screen_height(screen) ||
	    browser->message[0])
		return CLI_KEY_NONE;
	for (size_t i = 0; i < browser->hint_count; i++)
		if (column >= browser->hints[i].column && column < browser->hints[i].end)
			return browser->hints[i].key;
	return CLI_KEY_NONE;
}
