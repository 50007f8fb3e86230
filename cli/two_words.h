/* Options whose value is one of two words, the first of which is the default. */
#ifndef TALLY_CLI_TWO_WORDS_H
#define TALLY_CLI_TWO_WORDS_H

#include <stdbool.h>

struct tally_error;

/* For a cli_call: `*to` becomes whether the value is the second word.  `words` end with NULL;
 * `what` is what they are, for messages.  0 or -EINVAL. */
int cli_take_second(bool *to, const char *value, bool on, struct tally_error *error,
		    const char *what, const char *const *words);
/* Rows of CLI_CALL, `to` being a bool: whether percentages are relative, and syntax is Intel's. */
int cli_take_percentage(void *to, const char *value, bool on, struct tally_error *error);
int cli_take_syntax(void *to, const char *value, bool on, struct tally_error *error);

#endif
