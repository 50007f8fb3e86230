/* AUX areas of a recording, one a place that has rings of its own. */
#include <tally/fd.h>
#include "collect/openset.h"

int tally_openset_attach_aux(struct tally_openset *set, size_t place, int fd,
			     const struct tally_limits *limits, struct tally_error *error)
{
	const struct tally_aux_plan *plan = &set->plan->aux;
	const struct tally_ring *ring = set->rings[place * TALLY_RING_KINDS + TALLY_RING_SAMPLES];

	/* Traces of other threads there go to the same area, as their records to the ring. */
	if (set->aux[place].size)
		return 0;
	return tally_aux_area_open(&set->aux[place], ring, fd, plan->pages,
				   plan->mode != TALLY_AUX_WHOLE, limits, error);
}

void tally_openset_trace(const struct tally_openset *set, size_t place, bool on)
{
	bool threads = set->targets->per_thread;

	for (size_t thread = threads ? place : 0;
	     thread < (threads ? place + 1 : set->targets->tid_count); thread++) {
		int fd = *tally_openset_fd(set, thread, threads ? 0 : place, set->plan->aux.event);

		if (fd >= 0)
			on ? tally_fd_enable(fd, false) : tally_fd_disable(fd, false);
	}
}
