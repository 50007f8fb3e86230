/* Commands that perf or other tools have and tally does not. */
#ifndef TALLY_CLI_ELSEWHERE_H
#define TALLY_CLI_ELSEWHERE_H

/* What answers the same question here, as the rest of a message: a command line and what it does.
 * NULL where the name is not known. */
const char *cli_elsewhere_find(const char *name);

#endif
