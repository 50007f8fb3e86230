/* What a profile of a live session shows of the sums: fewer keys, or one value of a key. */
#ifndef TALLY_LIVE_LIVE_SHOWN_H
#define TALLY_LIVE_LIVE_SHOWN_H

#include "profile/worker.h"

/* Makes `ret`, a worker of `plan`, of all sums that are shown.  plan->keys are some of the keys of
 * `total`.  0, -ENOMEM; -EINVAL: a key is not one of those. */
int tally_live_shown(struct profile_worker *total, const struct tally_profile_shown *shown,
		     const struct profile_plan *plan, struct profile_worker *ret);

/* Drops contexts of which nothing is left, when there are twice as many as when it did so last,
 * which *least has; 0 at the start.  0 or -ENOMEM. */
int tally_live_clear(struct profile_worker *total, uint32_t *least);

#endif
