/* Recordings that were pushed before, for `tally push --once`: a file of lines, each the size, the
 * time of the last change in ns, and the path of one.  Those that no longer exist, or were changed,
 * are left out when it is read. */
#ifndef TALLY_CLI_PUSHED_LIST_H
#define TALLY_CLI_PUSHED_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct cli_pushed {
	char *path;   /* of the list */
	char **lines; /* without their ends */
	size_t count;
};

/* The list is the file "pushed" in a folder, which need not exist.  0, or CLI_FAILED after having
 * printed why not. */
int cli_pushed_read(const char *command, const char *folder, struct cli_pushed *ret);
bool cli_pushed_has(const struct cli_pushed *pushed, const char *recording);
/* Adds one, on disk as well; the folder exists.  0, or CLI_FAILED after having printed why not. */
int cli_pushed_add(const char *command, struct cli_pushed *pushed, const char *recording);
void cli_pushed_done(struct cli_pushed *pushed);

#endif
