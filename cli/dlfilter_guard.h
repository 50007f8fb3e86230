/* Filters are code of others: a crash in one is told by its name and what it was asked, and so is
 * one that does not return when Ctrl-C asks it to. */
#ifndef TALLY_CLI_DLFILTER_GUARD_H
#define TALLY_CLI_DLFILTER_GUARD_H

#include <tally/dlfilter.h>

/* Signals go through here from now on; filters are run by this thread.  Both are borrowed until the
 * end. */
void cli_dlfilter_guard_begin(const char *command, struct tally_dlfilters *filters);
/* Dies of the signal that asked to end, if one did. */
void cli_dlfilter_guard_end(void);
/* The signal that asked to end; 0: none. */
int cli_dlfilter_guard_signal(void);

#endif
