/* All samples of a session gathered: by each thread for itself, then merged into one. */
#ifndef TALLY_PROFILE_GATHERING_H
#define TALLY_PROFILE_GATHERING_H

#include "profile/gather.h"

/* What one reading of the samples is for; `period` is the caller's array, one for each event. */
void tally_gathering_plan(struct tally_gather_plan *plan, struct tally_session *session,
			  const struct tally_profile_options *options,
			  const struct profile_keys *keys, uint64_t *period);
/* What each thread gathered. */
struct tally_gathered {
	struct tally_gather *workers;
	bool *ready; /* by worker: it has something */
	unsigned worker_count;
};

/* Reads all samples.  0 and *ret, for tally_gathered_done(); -ENOMEM without words for it, or what
 * reading the session gave, told in `error`. */
int tally_gathering_run(struct tally_session *session, const struct tally_gather_plan *plan,
			struct tally_gathered *ret, struct tally_error *error);
/* Makes one of all, for tally_gather_done(); they are empty then.  0 or -ENOMEM. */
int tally_gathered_merge(struct tally_gathered *gathered, const struct tally_gather_plan *plan,
			 struct tally_gather *ret);
void tally_gathered_done(struct tally_gathered *gathered);

#endif
