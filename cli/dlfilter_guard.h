/* Filters are code of other people: after a crash in a filter its name and the function are
 * printed, and also when a filter does not return after Ctrl-C. */
#ifndef TALLY_CLI_DLFILTER_GUARD_H
#define TALLY_CLI_DLFILTER_GUARD_H

#include <tally/dlfilter.h>

/* From now on signals are handled here; filters are run by this thread. Both arguments are borrowed
 * until the end. */
void cli_dlfilter_guard_begin(const char *command, struct tally_dlfilters *filters);
/* Raises the signal that asked to end, if there was one. */
void cli_dlfilter_guard_end(void);
/* The signal that asked to end; 0: none. */
int cli_dlfilter_guard_signal(void);

#endif
