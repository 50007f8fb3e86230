/* A terminal's whole screen: text in places and styles, and keys.  Knows nothing of what is shown.
 */
#ifndef TALLY_CLI_SCREEN_H
#define TALLY_CLI_SCREEN_H

#include <stdbool.h>

struct cli_screen;

enum cli_style {
	CLI_PLAIN,
	CLI_BOLD,
	CLI_DIM,
	CLI_BAR,    /* the lines at the top and the bottom */
	CLI_CURSOR, /* the chosen line */
	CLI_HOT,    /* large shares, as in the text report */
	CLI_WARM,
	CLI_BAR_KEY, /* the name of a key in a bar */
	CLI_FOUND,   /* what was searched for */
	/* Blocks of a flame view: of user space, two so that neighbours differ; of the kernel. */
	CLI_BLOCK,
	CLI_BLOCK_OTHER,
	CLI_BLOCK_KERNEL,
	CLI_BLOCK_CHOSEN,
	CLI_STYLES,
};

/* Keys beyond characters, which are Unicode code points. */
enum cli_key {
	CLI_KEY_NONE = -1, /* the time was over */
	CLI_KEY_END_OF_INPUT = -2,
	CLI_KEY_ESCAPE = 27,
	CLI_KEY_ENTER = '\n',
	CLI_KEY_BACKSPACE = 0x110000, /* behind Unicode's last one */
	CLI_KEY_UP,
	CLI_KEY_DOWN,
	CLI_KEY_LEFT,
	CLI_KEY_RIGHT,
	CLI_KEY_PAGE_UP,
	CLI_KEY_PAGE_DOWN,
	CLI_KEY_HOME,
	CLI_KEY_END,
	CLI_KEY_BACK_TAB,
	CLI_KEY_RESIZED,
	CLI_KEY_CLICK, /* cli_screen_click() says where */
	CLI_KEY_WHEEL_UP,
	CLI_KEY_WHEEL_DOWN,
};
/* A letter with Ctrl. */
#define CLI_CTRL(letter) ((letter)&31)

/* Takes the terminal; signals that end or stop the program give it back.  0; -ENOTTY: standard
 * input or output is not a terminal that can do it; -ENOSYS: built without libncursesw. */
int cli_screen_open(struct cli_screen **ret);
/* Gives the terminal back as it was. */
void cli_screen_close(struct cli_screen *screen);

unsigned cli_screen_width(const struct cli_screen *screen);
unsigned cli_screen_height(const struct cli_screen *screen);

void cli_screen_clear(struct cli_screen *screen);
/* Puts text, UTF-8 without control characters, at a line and a column, cut where it would be wider
 * than `width` columns.  A character that the terminal does not have becomes a question mark.
 * Returns the columns that it took. */
unsigned cli_screen_put(struct cli_screen *screen, unsigned line, unsigned column,
			enum cli_style style, const char *text, unsigned width);
/* Gives the rest of a line the style. */
void cli_screen_fill(struct cli_screen *screen, unsigned line, unsigned column,
		     enum cli_style style);
/* Empties the rest of a line. */
void cli_screen_blank(struct cli_screen *screen, unsigned line, unsigned column);
/* Shows what was put. */
void cli_screen_show(struct cli_screen *screen);

/* Waits so long for a key; below 0: for ever. */
int cli_screen_key(struct cli_screen *screen, int milliseconds);
/* The line of the last click, and its column. */
unsigned cli_screen_click(const struct cli_screen *screen, unsigned *ret_column);
/* Whether clicks are keys; else the terminal selects text with them. */
void cli_screen_mouse(struct cli_screen *screen, bool on);
/* Draws all anew, after something else wrote to the terminal. */
void cli_screen_redraw(struct cli_screen *screen);

#endif
