/* The exit status after the measured command has ended: one rule for all commands that run or watch
 * others.
 *
 *   the command ended by itself              its own status
 *   a signal ended it, but did not reach us  128 and the signal's number, and a line that says so
 *   we were asked to end (Ctrl-C)            we die of this signal too, after all is written, as
 *                                            perf does: a shell has 128 and its number, and a
 *                                            script's loop ends */
#ifndef TALLY_CLI_ENDING_H
#define TALLY_CLI_ENDING_H

/* A command returns this and the signal's number to die of that signal after its output is written.
 */
#define CLI_DIE_OF 256

/* The status to return.  `wait_status` is the watched command's, from waitpid(); -1: there is none,
 * or it still runs.  `asked` is the signal that asked us to end, 0: none.  `speaker` is our command
 * and `program` the other one, for the line on a signal; the SIGTERM that we pass on when we are
 * asked to end is not reported. */
int cli_ending_status(const char *speaker, const char *program, int wait_status, int asked);

/* The last thing that main does: returns a status, or does not return. */
int cli_ending_leave(int status);

#endif
