/* The command `tally`: finds the command and runs it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/version.h>
#include "build_id_folder.h"
#include "command.h"
#include "ending.h"
#include "mapped.h"
#include "say.h"
#include "stack_room.h"

static int usage(void)
{
	puts("Usage: tally [--no-pager] [--buildid-dir DIR] COMMAND [ARGUMENTS]\n"
	     "       tally help [COMMAND]\n"
	     "\n"
	     "Shows where Linux programs spend their time.\n"
	     "\n"
	     "Commands:");
	cli_commands_print();
	puts("\nOptions:\n"
	     "  -h, --help       this text\n"
	     "  -v, --version    the version\n"
	     "      --no-pager   print straight to the terminal; valid for every command\n"
	     "      --buildid-dir DIR\n"
	     "                   the build-id cache; default: ~/.debug");
	return CLI_OK;
}

static int list_commands(void)
{
	for (size_t i = 0; i < cli_command_count; i++)
		printf("%s\t%s\n", cli_commands[i].name, cli_commands[i].summary);
	return CLI_OK;
}

static int unknown_option(const char *option)
{
	if (!strcmp(option, "--buildid-dir") || !strcmp(option, "--buildid-dir=")) {
		cli_say(NULL, "--buildid-dir: a folder is expected");
		return CLI_USAGE;
	}
	cli_say(NULL, "no option '%s' before the command; `tally --help` lists the options",
		option);
	return CLI_USAGE;
}

static void on_file_limit(int number)
{
	(void)number;
}

/* A write beyond the limit of file sizes (ulimit -f) then fails, as on a full disk, and does not
 * end the process without a word.  A handler, unlike an ignored signal, does not last in programs
 * that are started. */
static void catch_file_limit(void)
{
	struct sigaction action = {.sa_handler = on_file_limit, .sa_flags = SA_RESTART};

	sigaction(SIGXFSZ, &action, NULL);
}

int main(int argc, char **argv)
{
	const struct cli_command *command;
	int at = 1;

	for (; at < argc && argv[at][0] == '-'; at++) {
		if (!strcmp(argv[at], "--no-pager"))
			setenv("TALLY_PAGER", "", 1);
		else if (!strncmp(argv[at], "--buildid-dir=", 14) && argv[at][14])
			cli_build_id_folder_set(argv[at] + 14);
		else if (!strcmp(argv[at], "--buildid-dir") && at + 1 < argc)
			cli_build_id_folder_set(argv[++at]);
		else if (!strcmp(argv[at], "-h") || !strcmp(argv[at], "--help"))
			return cli_finish_output(NULL, usage());
		else if (!strcmp(argv[at], "-v") || !strcmp(argv[at], "--version"))
			return cli_finish_output(NULL, cmd_version(1, argv));
		else if (!strcmp(argv[at], "--list-cmds")) /* for completion */
			return cli_finish_output(NULL, list_commands());
		else
			return unknown_option(argv[at]);
	}
	if (at >= argc) {
		cli_say(NULL, "no command given; `tally --help` lists them");
		return CLI_USAGE;
	}
	command = cli_command_find(argv[at]);
	if (!command) {
		cli_command_suggest(argv[at]);
		return CLI_USAGE;
	}
	catch_file_limit();
	cli_settings_pager(command->name);
	cli_mapped_guard(command->name);
	return cli_ending_leave(
	    cli_finish_output(command->name, cli_run_with_room(command, argc - at, argv + at)));
}
