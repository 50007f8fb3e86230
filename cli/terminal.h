/* The terminal: whether there is one, its size, and whether it shows colour. */
#ifndef TALLY_CLI_TERMINAL_H
#define TALLY_CLI_TERMINAL_H

#include <stdbool.h>

/* Colour on stdout: a terminal that is not TERM=dumb, and no NO_COLOR (https://no-color.org).  Ask
 * before a pager is started. */
bool cli_term_colour(void);
bool cli_term_colour_of(int fd); /* on another descriptor */

/* Whether the user's locale has UTF-8. */
bool cli_term_utf8(void);

/* Columns of stdout's terminal, or COLUMNS; 0 when it is not a terminal.  Ask before a pager is
 * started. */
unsigned cli_term_width(void);
/* Lines of stdout's terminal; 0 when it is not a terminal. */
unsigned cli_term_height(void);
unsigned cli_term_width_of(int fd);

#endif
