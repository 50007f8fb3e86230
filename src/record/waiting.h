/* What a recorder waits for: its rings, the end of the command, and who asks it for something. */
#ifndef TALLY_RECORD_WAITING_H
#define TALLY_RECORD_WAITING_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include "collect/openset.h"

struct tally_waiting {
	const struct tally_openset *set;
	struct pollfd *polls; /* who asks, the command, the rings, those of offcpu-time */
	size_t count;
};

/* `asked_fd` is readable when somebody asks for something; `command_fd` when the command ended
 * (below 0: there is none). Returns 0 or -ENOMEM. */
int tally_waiting_init(struct tally_waiting *waiting, const struct tally_openset *set, int asked_fd,
		       int command_fd);
void tally_waiting_done(struct tally_waiting *waiting);

/* Other threads wait for the rings of samples: the kernel wakes only one for each mark. */
void tally_waiting_leave_samples(struct tally_waiting *waiting);

/* poll(2): its result, or -errno. A signal ends it with 0. */
int tally_waiting_poll(struct tally_waiting *waiting, int timeout_ms);
bool tally_waiting_asked(const struct tally_waiting *waiting);
/* After a poll: a ring whose descriptor's thread has ended is waited for through another thread's.
 * Returns false when all threads have ended. */
bool tally_waiting_living(struct tally_waiting *waiting);

#endif
