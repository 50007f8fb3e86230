/* A text that somebody types on the last line. */
#include <stdio.h>
#include <string.h>
#include "browser.h"
#include "screen.h"

static void draw(struct browser *browser, struct cli_screen *screen, const char *title,
		 const char *text)
{
	unsigned height = cli_screen_height(screen), width = cli_screen_width(screen), column;
	size_t length = strlen(text), from = 0;

	browser_draw(browser, screen);
	column = cli_screen_put(screen, height - 1, 0, CLI_BOLD, title, width);
	/* The end of a long text is what was typed last. */
	if (width > column + 1 && length > width - column - 1)
		from = length - (width - column - 1);
	column += cli_screen_put(screen, height - 1, column, CLI_BOLD, text + from, width - column);
	if (column < width)
		column += cli_screen_put(screen, height - 1, column, CLI_CURSOR, " ", 1);
	cli_screen_blank(screen, height - 1, column);
	cli_screen_show(screen);
}

/* The last character goes. */
static void shorten(char *text)
{
	size_t length = strlen(text);

	while (length && ((unsigned char)text[length - 1] & 0xc0) == 0x80)
		length--;
	text[length ? length - 1 : 0] = 0;
}

static void add(char *text, size_t room, unsigned code)
{
	size_t length = strlen(text);
	unsigned char bytes[4];
	unsigned count = 0;

	if (code < 0x80) {
		bytes[count++] = (unsigned char)code;
	} else {
		static const unsigned char starts[] = {0, 0xc0, 0xe0, 0xf0};
		unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;

		bytes[count++] = (unsigned char)(starts[more] | code >> 6 * more);
		while (more--)
			bytes[count++] = (unsigned char)(0x80 | (code >> 6 * more & 0x3f));
	}
	if (length + count >= room)
		return;
	memcpy(text + length, bytes, count);
	text[length + count] = 0;
}

int browser_prompt(struct browser *browser, struct cli_screen *screen, const char *title,
		   char *text, size_t room, int (*changed)(struct browser *browser))
{
	for (;;) {
		int key, result;

		browser->message[0] = 0;
		draw(browser, screen, title, text);
		key = browser_wait_key(browser, screen);
		if (key == CLI_KEY_ENTER)
			return 1;
		if (key == CLI_KEY_ESCAPE || key == CLI_KEY_END_OF_INPUT || key == CLI_CTRL('c'))
			return 0;
		if (key == CLI_KEY_BACKSPACE)
			shorten(text);
		else if (key == CLI_CTRL('u'))
			*text = 0;
		else if (key >= ' ' && key != 127 && key < CLI_KEY_BACKSPACE)
			add(text, room, (unsigned)key);
		else
			continue;
		result = changed ? changed(browser) : 0;
		if (result)
			return result;
	}
}
