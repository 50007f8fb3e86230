/* The screen, where libncursesw was not there when tally was built. */
#include <errno.h>
#include "screen.h"

int cli_screen_open(struct cli_screen **ret)
{
	(void)ret;
	return -ENOSYS;
}

void cli_screen_close(struct cli_screen *screen)
{
	(void)screen;
}

unsigned cli_screen_width(const struct cli_screen *screen)
{
	(void)screen;
	return 0;
}

unsigned cli_screen_height(const struct cli_screen *screen)
{
	(void)screen;
	return 0;
}

void cli_screen_clear(struct cli_screen *screen)
{
	(void)screen;
}

unsigned cli_screen_put(struct cli_screen *screen, unsigned line, unsigned column,
			enum cli_style style, const char *text, unsigned width)
{
	(void)screen;
	(void)line;
	(void)column;
	(void)style;
	(void)text;
	(void)width;
	return 0;
}

void cli_screen_fill(struct cli_screen *screen, unsigned line, unsigned column,
		     enum cli_style style)
{
	(void)screen;
	(void)line;
	(void)column;
	(void)style;
}

void cli_screen_blank(struct cli_screen *screen, unsigned line, unsigned column)
{
	(void)screen;
	(void)line;
	(void)column;
}

void cli_screen_show(struct cli_screen *screen)
{
	(void)screen;
}

int cli_screen_key(struct cli_screen *screen, int milliseconds)
{
	(void)screen;
	(void)milliseconds;
	return CLI_KEY_END_OF_INPUT;
}

unsigned cli_screen_click(const struct cli_screen *screen, unsigned *ret_column)
{
	(void)screen;
	*ret_column = 0;
	return 0;
}

void cli_screen_mouse(struct cli_screen *screen, bool on)
{
	(void)screen;
	(void)on;
}

void cli_screen_redraw(struct cli_screen *screen)
{
	(void)screen;
}
