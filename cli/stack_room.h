/* Threads of the command with a stack of a known size.  Otherwise it is what `ulimit -s` says,
 * which may be less than a demangler takes for one name. */
#ifndef TALLY_CLI_STACK_ROOM_H
#define TALLY_CLI_STACK_ROOM_H

#include <pthread.h>

struct cli_command;

/* pthread_create() with that stack; an errno. */
int cli_thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

/* Runs the command, on a thread of its own if this one has little room, and returns its status.
 * Signals then come to that thread. */
int cli_run_with_room(const struct cli_command *command, int argc, char **argv);

#endif
