/* Ctrl-C while a file is written: the incomplete file is removed first, then the command dies of
 * the signal (status 130 in a shell).
 *
 * The signals are blocked meanwhile, and the progress callback looks for them, so there is no
 * handler and no state. Only for work that reports its progress: other work cannot be ended. */
#ifndef TALLY_CLI_INTERRUPT_H
#define TALLY_CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* To be called before threads are made. Ignored signals stay ignored. */
void cli_interrupt_hold(sigset_t *ret_before);
/* Whether a signal came since. */
bool cli_interrupted(void);
/* Does not return when a signal came. */
void cli_interrupt_release(const sigset_t *before);

#endif
