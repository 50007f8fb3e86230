/* Traps of this process: how many there were, and the last one. */
#ifndef TALLY_TESTS_TRAPS_H
#define TALLY_TESTS_TRAPS_H

#include "kernel_test.h"

#include <signal.h>
#include <tally/overflow.h>

static struct tally_sigtrap trap = {.size = sizeof(trap)};
static volatile sig_atomic_t traps;

static inline void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (!tally_sigtrap_decode(info, &trap))
		traps = traps + 1;
}

static inline void catch_traps(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	traps = 0;
	trap = (struct tally_sigtrap){.size = sizeof(trap)};
	assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
}

#endif
