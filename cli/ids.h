/* Lists of process and thread ids on the command line. */
#ifndef TALLY_CLI_IDS_H
#define TALLY_CLI_IDS_H

#include <sys/types.h>
#include "options.h"

/* The ids of a list, for the caller to free(); room for one more.  `what` is "process" or "thread".
 * CLI_OK, or a status after having printed why. */
int cli_parse_ids(const char *command, const struct cli_list *list, const char *what, pid_t **ret);

/* `-p $(pidof nginx)` makes the second id look like a command to run: CLI_USAGE after having
 * printed so. `option` is the option of the list, argv[at] the first argument after the options. */
int cli_ids_check_words(const struct cli_usage *usage, const char *option,
			const struct cli_list *list, int argc, char **argv, int at);

/* Prints a notice when children of these processes already run: -p does not include them,
 * --children-of does. `verb` is what does not happen to them: "recorded". */
void cli_ids_report_children(const pid_t *pids, size_t count, const char *verb);

#endif
