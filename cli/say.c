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
#include "terminal.h"

#define FOLD_INDENT 2 /* of the further lines of a message */

static size_t columns_of(const char *text, size_t bytes)
{
	size_t columns = 0;

	for (size_t i = 0; i < bytes; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80; /* no byte within a character */
	return columns;
}

/* The bytes of the next word.  A command to copy, in backticks, is one word if a line has room for
 * it. */
static size_t word_of(const char *text, size_t most)
{
	const char *end = *text == '`' ? strchr(text + 1, '`') : NULL;
	size_t quoted = end ? (size_t)(end - text) + strcspn(end, " ") : 0;

	return quoted && columns_of(text, quoted) <= most ? quoted : strcspn(text, " ");
}

/* Prints the rest of a line from column `at` on; on a terminal it is folded between words. */
static void fold(const char *text, size_t at)
{
	size_t width = cli_term_width_of(STDERR_FILENO);

	if (!width) {
		fprintf(stderr, " %s", text);
		return;
	}
	while (*text) {
		size_t word = word_of(text, width - FOLD_INDENT);
		size_t columns = columns_of(text, word);

		if (at + 1 + columns > width && at > FOLD_INDENT) {
			fprintf(stderr, "\n%*s", FOLD_INDENT, "");
			at = FOLD_INDENT;
		} else {
			fputc(' ', stderr);
			at++;
		}
		fprintf(stderr, "%.*s", (int)word, text);
		at += columns;
		text += word;
		text += strspn(text, " ");
	}
}

static void put(const char *command, const char *text)
{
	char escaped[4 * TALLY_ERROR_TEXT];
	int at;

	tally_text_escape(text, escaped, sizeof(escaped));
	at = fprintf(stderr, "tally%s%s:", command ? " " : "", command ? command : "");
	fold(escaped, at > 0 ? (size_t)at : 0);
	fputc('\n', stderr);
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
		return; /* nobody can read a message */
}

int cli_finish_output(const char *command, int status)
{
	bool lost = ferror(stdout), closed;

	errno = 0;
	lost |= fflush(stdout) != 0;
	/* A failure to close is reported only if nothing else failed, and not where a program is
	 * started without a standard output, to which nothing was written. */
	closed = !fclose(stdout) || errno == EBADF;
	if ((!closed && !status) || lost) {
		cli_say(command, "output could not be written: %s",
			errno ? strerror(errno) : "it was cut short");
		return status ? status : CLI_FAILED;
	}
	return status;
}
