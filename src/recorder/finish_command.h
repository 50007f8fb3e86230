/* The end of a command that still runs when its recording is complete. */
#ifndef TALLY_RECORDER_FINISH_COMMAND_H
#define TALLY_RECORDER_FINISH_COMMAND_H

#include "collect/workload.h"

/* Passes the signal that ended the recording on, SIGTERM 2 s later, and waits. Further stops
 * (`stop_fd`, an eventfd) send SIGTERM, then SIGKILL. */
void tally_finish_command(struct tally_workload *workload, int stop_fd, int signal);

#endif
