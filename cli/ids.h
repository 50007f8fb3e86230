/* Processes and threads as they are typed. */
#ifndef TALLY_CLI_IDS_H
#define TALLY_CLI_IDS_H

#include <sys/types.h>
#include "options.h"

/* The ids of a list, for the caller to free(); room for one more.  `what` is "process" or "thread".
 * CLI_OK; else it was said. */
int cli_parse_ids(const char *command, const struct cli_list *list, const char *what, pid_t **ret);

#endif
