/* What --help and completion print of an option table. */
#ifndef TALLY_CLI_HELP_H
#define TALLY_CLI_HELP_H

#include "options.h"

/* The help text, to stdout, as wide as the terminal (80 when it is none, 100 at most). */
void cli_help_print(const struct cli_usage *usage, const struct cli_option *options);

/* For completion and checks: one line per option, "letter<TAB>name<TAB>value<TAB>help", with - for
 * none; value ends in ? when it may be missing. */
void cli_help_list(const struct cli_option *options);

/* The words of an option's value, "word<TAB>help" a line; `name` is the option as it is typed, or
 * what its value is called ("KEYS"). */
void cli_help_list_words(const struct cli_option *options, const char *name);

/* "one, two, three" into `to`, which is returned. */
const char *cli_help_words(cli_word word, char *to, size_t room);

#endif
