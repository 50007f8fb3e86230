/* The table of commands, in the order in which --help shows them. */
#include "command.h"

#include <stdio.h>
#include <string.h>
#include <tally/text.h>
#include "elsewhere.h"
#include "say.h"

const struct cli_command cli_commands[] = {
    {"list", "list the events and metrics of this machine", cmd_list},
    {"record", "run a command, or watch processes or the system, and write samples to a file",
     cmd_record, cmd_record_settings},
    {"profile", "record a command, print what limits it and what is hottest, and write a page",
     cmd_profile},
    {"stat", "count events of a command, a process or the system, and compute metrics", cmd_stat,
     cmd_stat_settings},
    {"report", "show where a recorded program spent its time", cmd_report, cmd_report_settings},
    {"annotate", "show which instructions and source lines of a function have the samples",
     cmd_annotate, cmd_annotate_settings},
    {"top", "show where the system, or running processes, spend their time now", cmd_top,
     cmd_top_settings},
    {"diff", "show what changed between recordings, and which changes are more than chance",
     cmd_diff, cmd_diff_settings},
    {"export", "write a recording's samples in a format of other programs", cmd_export,
     cmd_export_settings},
    {"symbolize", "add functions and lines to tables that were exported without them",
     cmd_symbolize, cmd_symbolize_settings},
    {"push", "send recordings as profiles to a Pyroscope server", cmd_push, cmd_push_settings},
    {"merge", "write the recordings of several runs or hosts to one file", cmd_merge},
    {"archive", "pack a recording and what is needed to read it elsewhere into one file",
     cmd_archive, cmd_archive_settings},
    {"probe", "define events at functions, lines and variables of programs, and remove them",
     cmd_probe},
    {"script", "print a recording's samples and records one by one", cmd_script,
     cmd_script_settings},
    {"encode", "show how an event's name is encoded for the kernel", cmd_encode},
    {"buildid-cache", "keep copies of binaries by their build-ids, list and remove them",
     cmd_buildid_cache, cmd_buildid_cache_settings},
    {"buildid-list", "list the build-ids of a recording, a binary or the kernel", cmd_buildid_list},
    {"cache", "show, check and clear what is kept between runs", cmd_cache},
    {"evlist", "list the events of a recording", cmd_evlist},
    {"info", "show who recorded what, when and how, and what the recording contains", cmd_info},
    {"repair", "write a damaged recording, or one of another byte order, as a valid file",
     cmd_repair},
    {"inject", "write a recording as a plain file or stream, with build-ids added", cmd_inject},
    {"doctor", "show what prevents measuring on this machine, and how to fix it", cmd_doctor},
    {"config", "print perf's configuration files, and which keys tally uses", cmd_config},
    {"help", "show the manual page of a command", cmd_help},
    {"version", "print the version, and the libraries it was built with", cmd_version},
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
	const char *instead = cli_elsewhere_find(name);

	for (size_t i = 0; i < cli_command_count; i++)
		names[i] = cli_commands[i].name;
	nearest = tally_text_nearest(name, names, cli_command_count);
	if (instead)
		cli_say(NULL, "no command '%s'; %s", name, instead);
	else if (nearest)
		cli_say(NULL, "no command '%s'; did you mean `tally %s`?", name, nearest);
	else
		cli_say(NULL, "no command '%s'; `tally --help` lists them", name);
}

void cli_commands_print(void)
{
	for (size_t i = 0; i < cli_command_count; i++)
		printf("  %-13s  %s\n", cli_commands[i].name, cli_commands[i].summary);
}
