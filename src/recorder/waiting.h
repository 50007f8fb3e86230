/* What a recorder waits for: its rings, the end of the command, and who asks it for something. */
#ifndef TALLY_RECORDER_WAITING_H
#define TALLY_RECORDER_WAITING_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include "collect/openset.h"

struct tally_waiting {
	const struct tally_openset *set;
	/* who stops it, the command, who asks, the rings, those of offcpu-time, a trigger's */
	struct pollfd *polls;
	size_t count, trigger_at;
	bool leaves_side;
};

struct tally_waiting_fds { /* below 0: there is none */
	int stop,
	    command; /* readable when somebody stops the recording, or the command has ended */
	int orders;  /* the same when something is asked */
};

/* `trigger` NULL: there are no events to wait for besides. Returns 0 or -ENOMEM. */
int tally_waiting_init(struct tally_waiting *waiting, const struct tally_openset *set,
		       const struct tally_openset *trigger, const struct tally_waiting_fds *fds);
void tally_waiting_done(struct tally_waiting *waiting);

/* Other threads wait for the rings of samples: the kernel wakes only one for each mark. */
void tally_waiting_leave_samples(struct tally_waiting *waiting);

/* Until it is called again, the rings of the side-band are not waited for, or are. */
void tally_waiting_leave_side(struct tally_waiting *waiting, bool leave);
/* After a poll: whether all that happened is that records came to rings of the side-band. */
bool tally_waiting_only_side(const struct tally_waiting *waiting);

/* poll(2): its result, or -errno. A signal ends it with 0. */
int tally_waiting_poll(struct tally_waiting *waiting, int timeout_ms);
/* Waits for the rings alone. Returns whether the kernel says that one is full enough. */
bool tally_waiting_rings(struct tally_waiting *waiting, int timeout_ms);
bool tally_waiting_stopped(const struct tally_waiting *waiting);
/* After a poll: a ring whose descriptor's thread has ended is waited for through another thread's.
 * Returns false when all threads have ended. */
bool tally_waiting_living(struct tally_waiting *waiting);

#endif
