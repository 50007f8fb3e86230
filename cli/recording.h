/* Which recording a command reads. */
#ifndef TALLY_CLI_RECORDING_H
#define TALLY_CLI_RECORDING_H

/* What was named on the command line; with nothing named (NULL) standard input when that is a pipe,
 * as in `tally record -o - ... | tally report`, else "perf.data". */
const char *cli_recording(const char *named);

#endif
