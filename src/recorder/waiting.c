#include "recorder/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define STOP    0
#define COMMAND 1
#define ORDERS  2
#define RINGS   3

static int fd_of(const struct tally_ring *ring)
{
	return ring ? tally_ring_fd(ring) : -1;
}

int tally_waiting_init(struct tally_waiting *waiting, const struct tally_openset *set,
		       const struct tally_openset *trigger, const struct tally_waiting_fds *fds)
{
	size_t cpus = tally_openset_places(set), at = RINGS + set->ring_count + cpus;
	size_t count = at + (trigger ? cpus : 0);
	struct pollfd *polls = calloc(count, sizeof(*polls));

	if (!polls)
		return -ENOMEM;
	polls[STOP].fd = fds->stop;
	polls[COMMAND].fd = fds->command;
	polls[ORDERS].fd = fds->orders;
	for (size_t i = 0; i < set->ring_count; i++)
		polls[RINGS + i].fd = fd_of(set->rings[i]);
	for (size_t i = 0; i < cpus; i++)
		polls[RINGS + set->ring_count + i].fd = fd_of(set->off_cpu[i]);
	for (size_t i = 0; trigger && i < cpus; i++)
		polls[at + i].fd = fd_of(trigger->rings[i * TALLY_RING_KINDS + TALLY_RING_SAMPLES]);
	for (size_t i = 0; i < count; i++)
		polls[i].events = POLLIN;
	*waiting =
	    (struct tally_waiting){.set = set, .polls = polls, .count = count, .trigger_at = at};
	return 0;
}

void tally_waiting_done(struct tally_waiting *waiting)
{
	free(waiting->polls);
	*waiting = (struct tally_waiting){0};
}

void tally_waiting_leave_samples(struct tally_waiting *waiting)
{
	for (size_t i = 0; i < waiting->set->ring_count; i++)
		if (i % TALLY_RING_KINDS == TALLY_RING_SAMPLES)
			waiting->polls[RINGS + i].fd = -1;
}

/* poll(2) passes over descriptors below 0. */
void tally_waiting_leave_side(struct tally_waiting *waiting, bool leave)
{
	if (leave == waiting->leaves_side)
		return;
	waiting->leaves_side = leave;
	for (size_t i = TALLY_RING_SIDEBAND; i < waiting->set->ring_count; i += TALLY_RING_KINDS) {
		struct pollfd *item = &waiting->polls[RINGS + i];

		if (item->fd != -1)
			item->fd = -2 - item->fd;
		item->revents = 0;
	}
}

bool tally_waiting_only_side(const struct tally_waiting *waiting)
{
	for (size_t i = 0; i < waiting->count; i++) {
		bool side = i >= RINGS && i - RINGS < waiting->set->ring_count &&
			    (i - RINGS) % TALLY_RING_KINDS == TALLY_RING_SIDEBAND;

		if (waiting->polls[i].revents & ~(side ? POLLIN : 0))
			return false;
	}
	return true;
}

int tally_waiting_poll(struct tally_waiting *waiting, int timeout_ms)
{
	int ready = poll(waiting->polls, waiting->count, timeout_ms);

	if (ready >= 0)
		return ready;
	return errno == EINTR || errno == EAGAIN ? 0 : -errno;
}

bool tally_waiting_rings(struct tally_waiting *waiting, int timeout_ms)
{
	struct pollfd *rings = waiting->polls + RINGS;
	size_t count = waiting->trigger_at - RINGS;
	bool any = false;

	if (poll(rings, count, timeout_ms) <= 0)
		return false;
	for (size_t i = 0; i < count; i++)
		any |= rings[i].revents & POLLIN;
	/* Those of threads that ended do not let poll(2) wait. */
	if (!any)
		usleep((useconds_t)timeout_ms * 1000);
	return any;
}

bool tally_waiting_stopped(const struct tally_waiting *waiting)
{
	return waiting->polls[STOP].revents;
}

bool tally_waiting_living(struct tally_waiting *waiting)
{
	const struct tally_openset *set = waiting->set;
	bool any = set->targets->system_wide;

	for (size_t i = waiting->trigger_at; i < waiting->count; i++)
		if (waiting->polls[i].revents & (POLLHUP | POLLERR))
			waiting->polls[i].fd = -1;
	for (size_t i = 0; i + RINGS < waiting->trigger_at; i++) {
		struct pollfd *item = &waiting->polls[RINGS + i];
		bool off_cpu = i >= set->ring_count;
		size_t cpu = off_cpu ? i - set->ring_count : i / TALLY_RING_KINDS;

		if (item->fd >= 0 && item->revents & (POLLHUP | POLLERR))
			item->fd = tally_openset_alive(
			    set, cpu, off_cpu ? TALLY_RING_OFF_CPU : i % TALLY_RING_KINDS);
		any |= item->fd >= 0;
	}
	return any;
}
