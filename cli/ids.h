/* Processes and threads as they are typed. */
#ifndef TALLY_CLI_IDS_H
#define TALLY_CLI_IDS_H

#include <sys/types.h>
#include "options.h"

/* The ids of a list, for the caller to free(); room for one more.  `what` is "process" or "thread".
 * CLI_OK; else it was said. */
int cli_parse_ids(const char *command, const struct cli_list *list, const char *what, pid_t **ret);

/* `-p $(pidof nginx)` gives the second id as a word, which is no command to run: CLI_USAGE after
 * having said so.  `option` is the list's, argv[at] the first word behind the options. */
int cli_ids_check_words(const struct cli_usage *usage, const char *option,
			const struct cli_list *list, int argc, char **argv, int at);

/* Says that children of these processes run already, which -p does not include, and what does.
 * `verb` is what is not done with them: "recorded". */
void cli_ids_tell_children(const pid_t *pids, size_t count, const char *verb);

#endif
