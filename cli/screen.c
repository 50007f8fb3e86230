/* The screen, by ncurses.  Only its functions are used, none of its variables, so that the library
 * can be loaded late. */
#define NCURSES_WIDECHAR 1
#include "screen.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#define PRESSES_MOST 8 /* the library keeps no more */

struct cli_screen {
	SCREEN *terminal;
	WINDOW *window;
	bool colours, utf8;
	unsigned click, click_column;
	/* Presses that came at once, the newest first: one key of the library stands for all. */
	MEVENT presses[PRESSES_MOST];
	unsigned press_count;
};

enum {
	PAIR_BAR = 1,
	PAIR_CURSOR,
	PAIR_HOT,
	PAIR_WARM,
	PAIR_FOUND,
	PAIR_OTHER,
	PAIR_KERNEL,
	PAIR_CHOSEN
};

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
	init_pair(PAIR_FOUND, COLOR_BLACK, COLOR_GREEN);
	init_pair(PAIR_OTHER, COLOR_BLACK, COLOR_RED);
	init_pair(PAIR_KERNEL, COLOR_WHITE, COLOR_BLUE);
	init_pair(PAIR_CHOSEN, COLOR_BLACK, COLOR_WHITE);
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
	mouseinterval(0); /* a press is a click, at once */
	cli_screen_mouse(screen, true);
	screen->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
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
	} styles[CLI_STYLES] = {
	    [CLI_BOLD] = {A_BOLD, A_BOLD, 0},
	    [CLI_DIM] = {A_DIM, A_DIM, 0},
	    [CLI_BAR] = {A_REVERSE, A_NORMAL, PAIR_BAR},
	    [CLI_CURSOR] = {A_REVERSE, A_NORMAL, PAIR_CURSOR},
	    [CLI_HOT] = {A_BOLD, A_NORMAL, PAIR_HOT},
	    [CLI_WARM] = {A_NORMAL, A_NORMAL, PAIR_WARM},
	    [CLI_BAR_KEY] = {A_REVERSE | A_BOLD, A_BOLD | A_UNDERLINE, PAIR_BAR},
	    [CLI_FOUND] = {A_BOLD, A_NORMAL, PAIR_FOUND},
	    [CLI_BLOCK] = {A_REVERSE, A_NORMAL, PAIR_CURSOR},
	    [CLI_BLOCK_OTHER] = {A_REVERSE, A_NORMAL, PAIR_OTHER},
	    [CLI_BLOCK_KERNEL] = {A_REVERSE | A_DIM, A_NORMAL, PAIR_KERNEL},
	    [CLI_BLOCK_CHOSEN] = {A_BOLD | A_UNDERLINE, A_BOLD, PAIR_CHOSEN},
	};

	*ret_pair = screen->colours ? styles[style].pair : 0;
	return screen->colours ? styles[style].coloured : styles[style].plain;
}

/* The next character of UTF-8 text, and its bytes; 0 of text that is none. */
static wchar_t decode(const char *text, size_t *ret_bytes)
{
	const unsigned char *bytes = (const unsigned char *)text;
	unsigned count = *bytes < 0x80 ? 1 : *bytes < 0xe0 ? 2 : *bytes < 0xf0 ? 3 : 4;
	uint32_t code = count == 1 ? *bytes : *bytes & (0x7fU >> count);

	*ret_bytes = 1;
	if (*bytes >= 0x80 && *bytes < 0xc0)
		return 0;
	for (unsigned i = 1; i < count; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	*ret_bytes = count;
	return (wchar_t)code;
}

/* The columns of a character; 0: the terminal does not have it. */
static unsigned columns_of(const struct cli_screen *screen, wchar_t character)
{
	int columns = character < 0x80 || screen->utf8 ? wcwidth(character) : 0;

	return columns > 0 ? (unsigned)columns : 0;
}

unsigned cli_screen_put(struct cli_screen *screen, unsigned line, unsigned column,
			enum cli_style style, const char *text, unsigned width)
{
	wchar_t characters[1024];
	size_t count = 0;
	unsigned columns = 0;
	short pair;
	attr_t attributes = attribute(screen, style, &pair);

	while (*text && count < sizeof(characters) / sizeof(*characters)) {
		size_t bytes;
		wchar_t character = decode(text, &bytes);
		unsigned wide = columns_of(screen, character);

		if (!wide) {
			character = L'?';
			wide = 1;
		}
		if (columns + wide > width)
			break;
		columns += wide;
		text += bytes;
		characters[count++] = character;
	}
	if (!count)
		return 0;
	(void)wattr_set(screen->window, attributes, pair, NULL);
	mvwaddnwstr(screen->window, (int)line, (int)column, characters, (int)count);
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

void cli_screen_blank(struct cli_screen *screen, unsigned line, unsigned column)
{
	if (column < cli_screen_width(screen) &&
	    wmove(screen->window, (int)line, (int)column) == OK)
		wclrtoeol(screen->window);
}

void cli_screen_show(struct cli_screen *screen)
{
	wrefresh(screen->window);
}

/* The oldest press that was not answered. */
static int next_press(struct cli_screen *screen)
{
	const MEVENT *press = &screen->presses[--screen->press_count];

	if (press->bstate & BUTTON4_PRESSED)
		return CLI_KEY_WHEEL_UP;
	if (press->bstate & BUTTON5_PRESSED)
		return CLI_KEY_WHEEL_DOWN;
	screen->click = (unsigned)press->y;
	screen->click_column = (unsigned)press->x;
	return CLI_KEY_CLICK;
}

static int take_presses(struct cli_screen *screen)
{
	while (screen->press_count < PRESSES_MOST &&
	       getmouse(&screen->presses[screen->press_count]) == OK)
		screen->press_count++;
	return screen->press_count ? next_press(screen) : CLI_KEY_NONE;
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
	    {KEY_BTAB, CLI_KEY_BACK_TAB},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].curses == key)
			return keys[i].ours;
	if (key == KEY_MOUSE)
		return take_presses(screen);
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

	if (screen->press_count)
		return next_press(screen);
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

unsigned cli_screen_click(const struct cli_screen *screen, unsigned *ret_column)
{
	*ret_column = screen->click_column;
	return screen->click;
}

void cli_screen_mouse(struct cli_screen *screen, bool on)
{
	(void)screen;
	mousemask(on ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
}

void cli_screen_redraw(struct cli_screen *screen)
{
	clearok(screen->window, true);
}
