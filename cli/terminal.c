#include "terminal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <tally/text.h>

bool cli_term_colour_of(int fd)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(none && *none) && term && strcmp(term, "dumb") != 0;
}

bool cli_term_colour(void)
{
	return cli_term_colour_of(STDOUT_FILENO);
}

unsigned cli_term_width_of(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t asked;

	if (!isatty(fd))
		return 0;
	if (columns && !tally_text_u64(columns, &asked) && asked >= 20 && asked <= 10000)
		return (unsigned)asked;
	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return 80;
}

unsigned cli_term_width(void)
{
	return cli_term_width_of(STDOUT_FILENO);
}

unsigned cli_term_height(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return 0;
	return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row ? size.ws_row : 24;
}

bool cli_term_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}
