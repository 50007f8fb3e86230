#include "interrupt.h"

#include <stddef.h>

/* Signals that people, limits and timers send to end a command. */
static const int signals[] = {SIGINT,  SIGTERM, SIGHUP,    SIGQUIT, SIGALRM,
			      SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU};

#define SIGNALS (sizeof(signals) / sizeof(*signals))

void cli_interrupt_hold(sigset_t *ret_before)
{
	sigset_t held;

	sigemptyset(&held);
	for (size_t i = 0; i < SIGNALS; i++) {
		struct sigaction action;

		if (!sigaction(signals[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&held, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &held, ret_before);
}

bool cli_interrupted(void)
{
	sigset_t pending;

	if (sigpending(&pending))
		return false;
	for (size_t i = 0; i < SIGNALS; i++)
		if (sigismember(&pending, signals[i]) == 1)
			return true;
	return false;
}

void cli_interrupt_release(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}
