/* Messages on stderr, each with the command that prints it in front.  Text is escaped for a
 * terminal. */
#ifndef TALLY_CLI_SAY_H
#define TALLY_CLI_SAY_H

#include <tally/error.h>

/* "tally record: text" and a newline.  `command` may be NULL. */
void cli_say(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a failure of the library; returns CLI_FAILED. */
int cli_say_error(const char *command, const struct tally_error *error);

/* The same for what was typed, shown with a caret below the column of the error. */
int cli_say_wrong(const char *command, const char *text, const struct tally_error *error);

/* Some text unchanged, for signal handlers: uses write(2) only. */
void cli_say_raw(const char *text);

/* Closes stdout.  Returns `status`; or CLI_FAILED, after a message, when something could not be
 * written to it (a full disk). */
int cli_finish_output(const char *command, int status);

#endif
