/* Which recording a command reads or writes: option rows and arguments that several commands share.
 */
#ifndef TALLY_CLI_RECORDING_H
#define TALLY_CLI_RECORDING_H

#include "options.h"

#define CLI_INPUT(to_string)                                                              \
	{                                                                                 \
		CLI_STRING, 'i', "input", "FILE",                                         \
		    "the recording: a file, a directory, - for standard input (default: " \
		    "perf.data)",                                                         \
		    .to = &(to_string)                                                    \
	}

#define CLI_MAX_EXPAND(to_u64)                                                                  \
	{                                                                                       \
		CLI_U64, 0, "max-expand", "MB",                                                 \
		    "most bytes that compressed records may expand to (default: 64 MB and 100 " \
		    "times their size)",                                                        \
		    .to = &(to_u64)                                                             \
	}

/* As perf has it, for those who are used to it: an owner is never asked. */
#define CLI_FORCE(to_bool)                                                               \
	{                                                                                \
		CLI_FLAG, 'f', "force", NULL,                                            \
		    "accepted as in perf: no recording is refused because of its owner", \
		    .to = &(to_bool)                                                     \
	}
#define CLI_STRICT(to_flag)                                                                     \
	{                                                                                       \
		CLI_FLAG, 0, "strict", NULL, "fail without output if the recording is damaged", \
		    .to = &(to_flag)                                                            \
	}

/* Where a recording is written: `output` is the value of -o (NULL: not given). Without it a stream
 * to standard output when that is a pipe, as in `tally record ... | perf script -i -`, else
 * "perf.data". */
const char *cli_recording_output(const char *output);

/* Where a command writes what it makes of a recording: `given`, or, if that is NULL,
 * `name` in the recording's folder; for a stream, in this one.  For free(); NULL: out of memory. */
char *cli_recording_beside(const char *given, const char *recording, const char *name);

/* To be called after cli_parse(), which returned `at`. A recording given as an argument wins over
 * --input. With none given, *input (NULL) becomes "-" when standard input is a pipe, as in `tally
 * record -o - ... | tally report`, else "perf.data". 0, or CLI_USAGE after having printed that
 * there is more than one. */
int cli_recording_take(const struct cli_usage *usage, int argc, char **argv, int at,
		       const char **input);

#endif
