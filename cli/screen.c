/* The screen, by ncurses.  Only its functions are used, none of its variables, so that the library
 * can be loaded late. */
#define NCURSES_WIDECHAR 1
#include "screen.h"

#include <errno.h>
#include <locale.h>
#include <ncurses.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

struct cli_screen {
	SCREEN *terminal;
	WINDOW *window;
	bool colours;
	unsigned click;
};

enum { PAIR_BAR = 1, PAIR_CURSOR, PAIR_HOT, PAIR_WARM };

static bool can_show(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

static void set_colours(struct cli_screen *screen)
{
	const char *none = getenv("NO_COLOR");

	screen->colours = !(none && *none) && has_colors() && start_color() == OK;
	if (!screen->colours)
		return;
	use_default_colors();
	init_pair(PAIR_BAR, COLOR_BLACK, COLOR_CYAN);
	init_pair(PAIR_CURSOR, COLOR_BLACK, COLOR_YELLOW);
	init_pair(PAIR_HOT, COLOR_RED, -1);
	init_pair(PAIR_WARM, COLOR_GREEN, -1);
}

int cli_screen_open(struct cli_screen **ret)
{
	struct cli_screen *screen;

	if (!can_show())
		return -ENOTTY;
	screen = calloc(1, sizeof(*screen));
	if (!screen)
		return -ENOMEM;
	/* Only for the width of characters: numbers stay as they are everywhere. */
	setlocale(LC_CTYPE, "");
	screen->terminal = newterm(NULL, stdout, stdin);
	screen->window = screen->terminal ? newwin(0, 0, 0, 0) : NULL;
	if (!screen->window) {
		cli_screen_close(screen);
		return -ENOTTY;
	}
	set_colours(screen);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	set_escdelay(50);
	keypad(screen->window, true);
	mousemask(BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED,
		  NULL);
	*ret = screen;
	return 0;
}

void cli_screen_close(struct cli_screen *screen)
{
	if (!screen)
		return;
	if (screen->window)
		delwin(screen->window);
	if (screen->terminal) {
		endwin();
		delscreen(screen->terminal);
	}
	free(screen);
}

unsigned cli_screen_width(const struct cli_screen *screen)
{
	return (unsigned)getmaxx(screen->window);
}

unsigned cli_screen_height(const struct cli_screen *screen)
{
	return (unsigned)getmaxy(screen->window);
}

void cli_screen_clear(struct cli_screen *screen)
{
	werase(screen->window);
}

static attr_t attribute(const struct cli_screen *screen, enum cli_style style, short *ret_pair)
{
	static const struct {
		attr_t plain, coloured;
		short pair;
	} styles[] = {
	    [CLI_BOLD] = {A_BOLD, A_BOLD, 0},
	    [CLI_DIM] = {A_DIM, A_DIM, 0},
	    [CLI_BAR] = {A_REVERSE, A_NORMAL, PAIR_BAR},
	    [CLI_CURSOR] = {A_REVERSE, A_NORMAL, PAIR_CURSOR},
	    [CLI_HOT] = {A_BOLD, A_NORMAL, PAIR_HOT},
	    [CLI_WARM] = {A_NORMAL, A_NORMAL, PAIR_WARM},
	};

	*ret_pair = screen->colours ? styles[style].pair : 0;
	return screen->colours ? styles[style].coloured : styles[style].plain;
}

unsigned cli_screen_put(struct cli_screen *screen, unsigned line, unsigned column,
			enum cli_style style, const char *text, unsigned width)
{
	mbstate_t state = {0};
	size_t left = strlen(text), bytes = 0;
	unsigned columns = 0;
	short pair;
	attr_t attributes = attribute(screen, style, &pair);

	while (bytes < left) {
		wchar_t character;
		size_t taken = mbrtowc(&character, text + bytes, left - bytes, &state);
		int wide;

		if (taken == 0 || taken > left - bytes) {
			state = (mbstate_t){0};
			taken = 1;
			wide = 1;
		} else {
			wide = wcwidth(character);
		}
		if (wide < 0 || columns + (unsigned)wide > width)
			break;
		columns += (unsigned)wide;
		bytes += taken;
	}
	if (!bytes || bytes > INT32_MAX)
		return 0;
	(void)wattr_set(screen->window, attributes, pair, NULL);
	mvwaddnstr(screen->window, (int)line, (int)column, text, (int)bytes);
	(void)wattr_set(screen->window, A_NORMAL, 0, NULL);
	return columns;
}

void cli_screen_fill(struct cli_screen *screen, unsigned line, unsigned column,
		     enum cli_style style)
{
	unsigned width = cli_screen_width(screen);
	short pair;
	attr_t attributes = attribute(screen, style, &pair);

	if (column < width)
		mvwchgat(screen->window, (int)line, (int)column, (int)(width - column), attributes,
			 pair, NULL);
}

void cli_screen_show(struct cli_screen *screen)
{
	wrefresh(screen->window);
}

static int take_click(struct cli_screen *screen)
{
	MEVENT event;

	if (getmouse(&event) != OK)
		return CLI_KEY_NONE;
	if (event.bstate & BUTTON4_PRESSED)
		return CLI_KEY_UP;
	if (event.bstate & BUTTON5_PRESSED)
		return CLI_KEY_DOWN;
	screen->click = (unsigned)event.y;
	return CLI_KEY_CLICK;
}

static int key_of(struct cli_screen *screen, wint_t key)
{
	struct winsize size;
	static const struct {
		wint_t curses;
		int ours;
	} keys[] = {
	    {KEY_UP, CLI_KEY_UP},
	    {KEY_DOWN, CLI_KEY_DOWN},
	    {KEY_LEFT, CLI_KEY_LEFT},
	    {KEY_RIGHT, CLI_KEY_RIGHT},
	    {KEY_PPAGE, CLI_KEY_PAGE_UP},
	    {KEY_NPAGE, CLI_KEY_PAGE_DOWN},
	    {KEY_HOME, CLI_KEY_HOME},
	    {KEY_END, CLI_KEY_END},
	    {KEY_BACKSPACE, CLI_KEY_BACKSPACE},
	    {KEY_ENTER, CLI_KEY_ENTER},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].curses == key)
			return keys[i].ours;
	if (key == KEY_MOUSE)
		return take_click(screen);
	if (key != KEY_RESIZE)
		return CLI_KEY_NONE;
	/* The library has resized its own window only. */
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		wresize(screen->window, size.ws_row, size.ws_col);
	return CLI_KEY_RESIZED;
}

int cli_screen_key(struct cli_screen *screen, int milliseconds)
{
	wint_t key = 0;
	int result;

	wtimeout(screen->window, milliseconds);
	errno = 0;
	result = wget_wch(screen->window, &key);
	if (result == KEY_CODE_YES)
		return key_of(screen, key);
	if (result != OK)
		return errno == 0 || errno == EINTR ? CLI_KEY_NONE : CLI_KEY_END_OF_INPUT;
	if (key == 127 || key == '\b')
		return CLI_KEY_BACKSPACE;
	return key == '\r' ? CLI_KEY_ENTER : (int)key;
}

unsigned cli_screen_click(const struct cli_screen *screen)
{
	return screen->click;
}
