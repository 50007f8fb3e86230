#include "ending.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include "command.h"
#include "say.h"

int cli_ending_status(const char *speaker, const char *program, int wait_status, int asked)
{
	int how;

	if (wait_status < 0)
		return asked ? CLI_DIE_OF + asked : CLI_OK;
	if (!WIFSIGNALED(wait_status))
		return WEXITSTATUS(wait_status);
	how = WTERMSIG(wait_status);
	if (asked && (how == asked || how == SIGTERM))
		return CLI_DIE_OF + asked;
	cli_say(speaker, "%s was ended by a signal: %s", program, strsignal(how));
	return 128 + how;
}

int cli_ending_leave(int status)
{
	int signal_number = status - CLI_DIE_OF;
	sigset_t only;

	if (signal_number <= 0)
		return status;
	signal(signal_number, SIG_DFL);
	sigemptyset(&only);
	sigaddset(&only, signal_number);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	raise(signal_number);
	return 128 + signal_number;
}
