/* Options of perf that tally does not have, and what to do instead. */
#ifndef TALLY_CLI_PERF_OPTIONS_H
#define TALLY_CLI_PERF_OPTIONS_H

/* Why perf's command of this name has the option and tally's does not, and what to use; by its
 * whole name, or by its letter where `name` is NULL. NULL: perf has no such option. */
const char *cli_perf_option(const char *command, const char *name, char letter);

#endif
