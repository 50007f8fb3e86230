/* `tally help COMMAND`: its manual page when it is installed, else its --help. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "command.h"
#include "options.h"
#include "say.h"

/* The status of man(1) for the page; -1 when there is no man. man prints nothing when it does not
 * find the page: then --help is shown. */
static int show_manual(const char *page)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return -1;
	if (!pid) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(127);
		execlp("man", "man", page, (char *)NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int cmd_help(int argc, char **argv)
{
	static const char *const forms[] = {"[COMMAND]", NULL};
	const struct cli_usage usage = {
	    .command = "help",
	    .forms = forms,
	    .about = "Shows the manual page of a command, or of tally itself; the command's --help "
		     "when no manual page is installed.",
	};
	const struct cli_option options[] = {{.kind = CLI_END}};
	const struct cli_command *command;
	char page[64] = "tally", dash_help[] = "--help";
	int status, at = cli_parse(&usage, options, argc, argv, &status);

	if (at < 0)
		return status;
	if (at == argc) {
		if (isatty(STDOUT_FILENO) && !show_manual(page))
			return CLI_OK;
		puts("Commands:");
		cli_commands_print();
		return CLI_OK;
	}
	if (argc - at > 1)
		return cli_usage_error(&usage, "give only one command");
	command = cli_command_find(argv[at]);
	if (!command) {
		cli_command_suggest(argv[at]);
		return CLI_USAGE;
	}
	snprintf(page, sizeof(page), "tally-%s", command->name);
	if (!show_manual(page))
		return CLI_OK;
	return command->run(2, (char *[]){argv[at], dash_help, NULL});
}
