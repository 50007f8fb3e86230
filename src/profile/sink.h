/* A profile's sink: all workers' shares, and what they make together. */
#ifndef TALLY_PROFILE_SINK_H
#define TALLY_PROFILE_SINK_H

#include "profile/worker.h"

struct tally_rows_wanted;

/* The columns of batches that a plan takes. */
uint64_t tally_profile_columns(const struct profile_plan *plan);
/* Runs the plan over the session, over some samples when `wanted` is not NULL, and gives all that
 * the workers made as one.  0 or -errno with words. */
int tally_profile_sink_run(struct tally_session *session, const struct profile_plan *plan,
			   const struct tally_rows_wanted *wanted, struct profile_worker *ret,
			   struct tally_error *error);

#endif
