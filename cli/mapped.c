/* State at file scope, because a signal handler gets no argument of its own. */
#include "mapped.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>
#include "command.h"
#include "say.h"

static const char *guarded;
static atomic_flag said = ATOMIC_FLAG_INIT;

static void cut_off(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code != BUS_ADRERR) {
		signal(number, SIG_DFL);
		raise(number); /* comes when this handler returns */
		return;
	}
	/* Several threads read, and each may be here: the first one ends the process. */
	while (atomic_flag_test_and_set(&said))
		pause();
	cli_say_raw("tally ");
	cli_say_raw(guarded);
	cli_say_raw(
	    ": a file became shorter while it was read; try again when nothing writes to it\n");
	_exit(CLI_FAILED);
}

void cli_mapped_guard(const char *command)
{
	const struct sigaction action = {.sa_sigaction = cut_off, .sa_flags = SA_SIGINFO};

	guarded = command;
	sigaction(SIGBUS, &action, NULL);
}
