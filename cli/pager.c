#include "pager.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *choose(void)
{
	const char *pager = getenv("TALLY_PAGER"), *term = getenv("TERM");

	/* A pager needs a terminal that can move its cursor; else it stops and asks. */
	if (!term || !*term || !strcmp(term, "dumb"))
		return NULL;
	if (!pager)
		pager = getenv("PAGER");
	if (!pager)
		pager = "less";
	return *pager && strcmp(pager, "cat") != 0 ? pager : NULL;
}

/* In the child: reads what we write. When the pager cannot be run, cat shows the text. */
static void page(const char *pager, const int ends[2])
{
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	close(ends[1]);
	setenv("LESS", "FRSX", 0); /* S: long lines are cut, the arrow keys scroll to the rest */
	if (!strcmp(pager, "less"))
		execlp("less", "less", (char *)NULL);
	else
		execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
	execlp("cat", "cat", (char *)NULL);
	_exit(127);
}

void cli_pager_start(struct cli_pager *ret)
{
	const char *pager = choose();
	int ends[2];

	ret->pid = 0;
	if (!pager || !isatty(STDOUT_FILENO) || pipe(ends))
		return;
	fflush(stdout);
	ret->pid = fork();
	if (!ret->pid)
		page(pager, ends);
	close(ends[0]);
	if (ret->pid > 0) {
		const struct sigaction ignore = {.sa_handler = SIG_IGN};

		sigaction(SIGINT, &ignore, &ret->interrupt);
		dup2(ends[1], STDOUT_FILENO);
	} else {
		ret->pid = 0;
	}
	close(ends[1]);
}

void cli_pager_finish(struct cli_pager *pager)
{
	int spare;

	if (!pager->pid)
		return;
	fflush(stdout);
	spare = dup(
	    STDERR_FILENO); /* stdout stays a valid descriptor, and the pipe's last end closes */
	if (spare >= 0) {
		dup2(spare, STDOUT_FILENO);
		close(spare);
	}
	while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &pager->interrupt, NULL);
	pager->pid = 0;
}
