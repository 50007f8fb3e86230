#include "recorder/finish_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>
#include "stacks/monotonic.h"

#define NS_PER_MS     1000000LL
#define POLLING_MS    50   /* between two looks, without pidfd_open(2) */
#define TERM_AFTER_MS 2000 /* between the person's signal to the command and SIGTERM */

/* Ctrl-C on a terminal reaches the command too: only a signal to the recorder alone is passed on.
 */
static bool is_signal_of_terminal(int signal)
{
	int fd;
	bool foreground;

	if (signal != SIGINT && signal != SIGQUIT)
		return false;
	fd = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return false;
	foreground = tcgetpgrp(fd) == getpgrp();
	close(fd);
	return foreground;
}

void tally_finish_command(struct tally_workload *workload, int stop_fd, int signal)
{
	int64_t until = monotonic_ns() + TERM_AFTER_MS * NS_PER_MS;
	struct pollfd polls[2] = {{.fd = workload->pid_fd, .events = POLLIN},
				  {.fd = stop_fd, .events = POLLIN}};
	int asked = 0; /* SIGTERMs sent */
	uint64_t stops;

	if (!workload->pid || tally_workload_check(workload))
		return;
	if (read(stop_fd, &stops, sizeof(stops)) < 0)
		stops = 0;
	if (!is_signal_of_terminal(signal))
		kill(workload->pid, signal ? signal : SIGTERM);
	while (!tally_workload_check(workload)) {
		int64_t left = until - monotonic_ns();

		if (left <= 0 && !asked++)
			kill(workload->pid, SIGTERM);
		poll(polls, 2, workload->pid_fd >= 0 && left <= 0 ? -1 : POLLING_MS);
		if (polls[1].revents) {
			if (read(stop_fd, &stops, sizeof(stops)) < 0)
				stops = 0;
			kill(workload->pid, asked++ ? SIGKILL : SIGTERM);
		}
	}
}
