#include "term.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <tally/text.h>

bool cli_term_colour(void)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(none && *none) && term && strcmp(term, "dumb") != 0;
}

unsigned cli_term_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t asked;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (columns && !tally_text_u64(columns, &asked) && asked >= 20 && asked <= 10000)
		return (unsigned)asked;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return 80;
}
