/* --stdio-color WHEN: always, never, or auto. */
#ifndef TALLY_CLI_COLOUR_OPTION_H
#define TALLY_CLI_COLOUR_OPTION_H

#include <stdbool.h>

struct tally_error;

/* For a row of CLI_CALL; `to` is a const char *. */
int cli_take_colour(void *to, const char *value, bool on, struct tally_error *error);
/* Whether there is colour; `usual`: without the option, and with auto. */
bool cli_colour_wanted(const char *when, bool usual);

#endif
