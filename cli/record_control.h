/* `tally record --control`: orders from another program, in a thread beside the recording. */
#ifndef TALLY_CLI_RECORD_CONTROL_H
#define TALLY_CLI_RECORD_CONTROL_H

#include <pthread.h>
#include <tally/recorder.h>
#include "control_channel.h"

struct record_control {
	struct cli_control control;
	struct tally_recorder *recorder;
	const char *output;
	int end_fd; /* an eventfd: readable when the recording has ended */
	pthread_t thread;
	bool started;
};

/* Opens what --control names.  0, or a status after a message. */
int record_control_open(struct record_control *control, const struct cli_usage *usage,
			const char *where);
/* Follows orders from here on.  `output`: the recording. */
void record_control_start(struct record_control *control, struct tally_recorder *recorder,
			  const char *output);
/* The recording has ended. */
void record_control_close(struct record_control *control);

#endif
