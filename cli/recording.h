/* Which recording a command reads: option rows and arguments that are the same for all of them. */
#ifndef TALLY_CLI_RECORDING_H
#define TALLY_CLI_RECORDING_H

#include "options.h"

#define CLI_INPUT(to_string)                                                                \
	{                                                                                   \
		CLI_STRING, 'i', "input", "FILE",                                           \
		    "the recording: a file, a directory, - for standard input (perf.data)", \
		    .to = &(to_string)                                                      \
	}

#define CLI_MAX_EXPAND(to_u64)                                                                   \
	{                                                                                        \
		CLI_U64, 0, "max-expand", "MB",                                                  \
		    "let compressed records expand to so much (64 MB and 100 times their size)", \
		    .to = &(to_u64)                                                              \
	}

#define CLI_STRICT(to_flag)                                                                   \
	{                                                                                     \
		CLI_FLAG, 0, "strict", NULL, "show nothing of a damaged recording, and fail", \
		    .to = &(to_flag)                                                          \
	}

/* Where a recording goes: what -o names (NULL: it was not given), or a stream into the pipe that
 * standard output is, as in `tally record ... | perf script -i -`, or "perf.data". */
const char *cli_recording_output(const char *output);

/* Behind cli_parse(), which returned `at`: the recording that is an argument goes before the one of
 * --input; with none named *input (NULL) becomes "-" when standard input is a pipe, as in `tally
 * record -o - ... | tally report`, else "perf.data".  0, or CLI_USAGE after having said that there
 * is more than one. */
int cli_recording_take(const struct cli_usage *usage, int argc, char **argv, int at,
		       const char **input);

#endif
