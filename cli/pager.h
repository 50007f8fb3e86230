/* A pager behind stdout, on a terminal only.
 *
 * The program is TALLY_PAGER, else PAGER, else less; empty or "cat" means no pager.  LESS=FRX
 * unless LESS is set: short output stays on the screen, colour passes. */
#ifndef TALLY_CLI_PAGER_H
#define TALLY_CLI_PAGER_H

#include <signal.h>
#include <sys/types.h>

struct cli_pager {
	pid_t pid; /* 0: none runs */
	struct sigaction
	    interrupt; /* what Ctrl-C did before; while a pager runs, Ctrl-C is for the pager */
};

void cli_pager_start(struct cli_pager *ret);
/* Ends the output and waits until the pager ends. */
void cli_pager_finish(struct cli_pager *pager);

#endif
