/* Ctrl-C while a file is written: what was begun is taken away first, then the command ends of the
 * signal, as one that was interrupted should (status 130 to a shell).
 *
 * The signals are blocked meanwhile, and work that tells its progress looks for them, so there is
 * no handler and no state.  Only for work that tells its progress: other work cannot be ended. */
#ifndef TALLY_CLI_INTERRUPT_H
#define TALLY_CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* Before threads are made.  Signals that are ignored stay so. */
void cli_interrupt_hold(sigset_t *ret_before);
/* Whether one came since. */
bool cli_interrupted(void);
/* Does not return when one came. */
void cli_interrupt_release(const sigset_t *before);

#endif
