/* Commands of `tally`.
 *
 * To add a command:
 *   1. cli/cmd_<name>.c with `int cmd_<name>(int argc, char **argv)`: argv[0] is the command's
 * name; the result is the exit status (CLI_*).  Only public headers and those of cli/ are included.
 *   2. Its prototype below, and a row in cli/commands.c.
 *   3. Options as a table of struct cli_option, given to cli_parse() (options.h); --help,
 * completion and `make lint` are made from that table.
 *   4. man/tally-<name>.1.scd with every option, listed in man/meson.build.
 *   5. tests/cli/<name>.bats. */
#ifndef TALLY_CLI_COMMAND_H
#define TALLY_CLI_COMMAND_H

#include <stddef.h>
#include "settings.h"

/* Exit statuses.  125 to 127 are those of env(1), for commands that run another one. */
enum cli_status {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	CLI_LATER = 75, /* push: nothing is lost, but not all is done; EX_TEMPFAIL of sysexits.h */
	CLI_OWN_FAILURE = 125, /* ours, before the command could be run */
	CLI_CANNOT_RUN = 126,  /* it was found but cannot be executed */
	CLI_NOT_FOUND = 127,
	CLI_NOT_PERMITTED = 255, /* stat, record: no event may be opened by this user; as in perf */
};

struct cli_command {
	const char *name, *summary; /* one line, without a full stop */
	int (*run)(int argc, char **argv);
	const struct cli_setting *settings; /* keys of perf's configuration files; NULL: none */
};

extern const struct cli_command cli_commands[];
extern const size_t cli_command_count;

extern const struct cli_setting cmd_record_settings[], cmd_report_settings[], cmd_stat_settings[],
    cmd_script_settings[], cmd_buildid_cache_settings[], cmd_archive_settings[],
    cmd_symbolize_settings[], cmd_annotate_settings[], cmd_diff_settings[], cmd_export_settings[],
    cmd_push_settings[], cmd_top_settings[];

/* NULL when there is none. */
const struct cli_command *cli_command_find(const char *name);
/* Prints that the command is unknown, and the most similar one. */
void cli_command_suggest(const char *name);
/* Prints all commands to stdout, one per line. */
void cli_commands_print(void);

int cmd_annotate(int argc, char **argv);
int cmd_archive(int argc, char **argv);
int cmd_symbolize(int argc, char **argv);
int cmd_buildid_cache(int argc, char **argv);
int cmd_buildid_list(int argc, char **argv);
int cmd_cache(int argc, char **argv);
int cmd_config(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_encode(int argc, char **argv);
int cmd_evlist(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_help(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_inject(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_probe(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_push(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_repair(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_version(int argc, char **argv);

#endif
