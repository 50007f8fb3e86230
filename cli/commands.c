/* The table of commands, in the order in which --help shows them. */
#include "command.h"

#include <stdio.h>
#include <string.h>
#include <tally/text.h>
#include "say.h"

const struct cli_command cli_commands[] = {
    {"list", "list the events and metrics that can be asked for", cmd_list},
    {"record", "run a command, or watch processes or the system, and keep samples in a file",
     cmd_record, cmd_record_settings},
    {"stat", "count events while a command runs, and say what they mean", cmd_stat,
     cmd_stat_settings},
    {"report", "say where the time of a recording went", cmd_report, cmd_report_settings},
    {"probe", "define events at functions, lines and variables of programs, and remove them",
     cmd_probe},
    {"script", "print a recording's samples and records one by one", cmd_script,
     cmd_script_settings},
    {"encode", "say what an event's name means to the kernel", cmd_encode},
    {"buildid-cache", "keep copies of binaries by their build-ids, list and remove them",
     cmd_buildid_cache, cmd_buildid_cache_settings},
    {"buildid-list", "list the build-ids of a recording, a binary or the kernel", cmd_buildid_list},
    {"evlist", "list the events of a recording", cmd_evlist},
    {"info", "say what a recording is, and what is in it", cmd_info},
    {"repair", "write a damaged or foreign recording anew, for every perf to read", cmd_repair},
    {"inject", "write a recording as a plain file or stream, with build-ids added", cmd_inject},
    {"doctor", "say what is in the way of measuring on this machine, and how to lift it",
     cmd_doctor},
    {"config", "print perf's configuration files, and which keys tally obeys", cmd_config},
    {"help", "the manual page of a command", cmd_help},
    {"version", "the version, and what it was built with", cmd_version},
};
const size_t cli_command_count = sizeof(cli_commands) / sizeof(*cli_commands);

const struct cli_command *cli_command_find(const char *name)
{
	for (size_t i = 0; i < cli_command_count; i++)
		if (!strcmp(cli_commands[i].name, name))
			return &cli_commands[i];
	return NULL;
}

void cli_command_suggest(const char *name)
{
	const char *names[sizeof(cli_commands) / sizeof(*cli_commands)], *nearest;

	for (size_t i = 0; i < cli_command_count; i++)
		names[i] = cli_commands[i].name;
	nearest = tally_text_nearest(name, names, cli_command_count);
	if (nearest)
		cli_say(NULL, "no command '%s'; did you mean `tally %s`?", name, nearest);
	else
		cli_say(NULL, "no command '%s'; `tally --help` lists them", name);
}

void cli_commands_print(void)
{
	for (size_t i = 0; i < cli_command_count; i++)
		printf("  %-13s  %s\n", cli_commands[i].name, cli_commands[i].summary);
}
