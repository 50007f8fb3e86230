#include "say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include <unistd.h>
#include "command.h"

static void put(const char *command, const char *text)
{
	char escaped[4 * TALLY_ERROR_TEXT];

	tally_text_escape(text, escaped, sizeof(escaped));
	fprintf(stderr, "tally%s%s: %s\n", command ? " " : "", command ? command : "", escaped);
}

void cli_say(const char *command, const char *format, ...)
{
	char text[2 * TALLY_ERROR_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put(command, text);
}

int cli_say_error(const char *command, const struct tally_error *error)
{
	put(command, error->text[0] ? error->text : strerror(-error->code));
	return CLI_FAILED;
}

int cli_say_wrong(const char *command, const char *text, const struct tally_error *error)
{
	char escaped[1024];
	size_t column = 0;

	if (error->position >= 0) {
		char *before = strndup(text, (size_t)error->position);

		if (before)
			column = tally_text_escape(before, NULL, 0);
		free(before);
		tally_text_escape(text, escaped, sizeof(escaped));
		if (column < sizeof(escaped))
			fprintf(stderr, "  %s\n  %*s^\n", escaped, (int)column, "");
	}
	return cli_say_error(command, error);
}

void cli_say_raw(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return; /* there is nobody to tell */
}

int cli_finish_output(const char *command, int status)
{
	bool lost = ferror(stdout);

	errno = 0;
	lost |= fflush(stdout) != 0;
	/* That closing failed is news only where all else went well. */
	if ((fclose(stdout) && !status) || lost) {
		cli_say(command, "output could not be written: %s",
			errno ? strerror(errno) : "it was cut short");
		return status ? status : CLI_FAILED;
	}
	return status;
}
