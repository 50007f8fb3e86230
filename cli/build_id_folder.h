/* The folder of the build-id cache, where no option of the command names one. */
#ifndef TALLY_CLI_BUILD_ID_FOLDER_H
#define TALLY_CLI_BUILD_ID_FOLDER_H

/* `tally --buildid-dir DIR COMMAND`: for this command and those that it runs, as perf does. */
void cli_build_id_folder_set(const char *folder);

/* The option after the command, else the one before it, else the key of a configuration file ("":
 * not set). NULL: the default, ~/.debug. Borrowed. */
const char *cli_build_id_folder(const char *option, const char *configured);

#endif
