#include "record/waiting.h"

#include <errno.h>
#include <stdlib.h>

#define ASKED   0
#define COMMAND 1
#define RINGS   2

static int fd_of(const struct tally_ring *ring)
{
	return ring ? tally_ring_fd(ring) : -1;
}

int tally_waiting_init(struct tally_waiting *waiting, const struct tally_openset *set, int asked_fd,
		       int command_fd)
{
	size_t cpus = tally_openset_places(set), count = RINGS + set->ring_count + cpus;
	struct pollfd *polls = calloc(count, sizeof(*polls));

	if (!polls)
		return -ENOMEM;
	polls[ASKED].fd = asked_fd;
	polls[COMMAND].fd = command_fd;
	for (size_t i = 0; i < set->ring_count; i++)
		polls[RINGS + i].fd = fd_of(set->rings[i]);
	for (size_t i = 0; i < cpus; i++)
		polls[RINGS + set->ring_count + i].fd = fd_of(set->off_cpu[i]);
	for (size_t i = 0; i < count; i++)
		polls[i].events = POLLIN;
	*waiting = (struct tally_waiting){.set = set, .polls = polls, .count = count};
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

int tally_waiting_poll(struct tally_waiting *waiting, int timeout_ms)
{
	int ready = poll(waiting->polls, waiting->count, timeout_ms);

	if (ready >= 0)
		return ready;
	return errno == EINTR || errno == EAGAIN ? 0 : -errno;
}

bool tally_waiting_asked(const struct tally_waiting *waiting)
{
	return waiting->polls[ASKED].revents;
}

bool tally_waiting_living(struct tally_waiting *waiting)
{
	const struct tally_openset *set = waiting->set;
	bool any = set->targets->system_wide;

	for (size_t i = 0; i + RINGS < waiting->count; i++) {
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
