/* --for-each-cgroup: names and patterns of cgroups. */
#ifndef TALLY_CLI_CGROUP_PATTERNS_H
#define TALLY_CLI_CGROUP_PATTERNS_H

#include "options.h"

/* Puts the cgroups that a pattern matches in its place in the list. 0, or an exit status after a
 * message. */
int cli_cgroups_expand(const char *command, struct cli_list *list);

#endif
