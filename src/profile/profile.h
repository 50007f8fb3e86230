/* A profile inside: what its accessors and trees stand on. */
#ifndef TALLY_PROFILE_PROFILE_H
#define TALLY_PROFILE_PROFILE_H

#include <tally/profile.h>
#include "profile/row_list.h"

struct tally_profile {
	struct tally_session *session;
	struct profile_keys keys;
	bool callchains, children, relative, latency, tree_samples;
	enum tally_profile_kind kind;
	uint32_t max_stack; /* struct tally_profile_options */
	double tree_least;  /* % of what shares are of: smaller rows have no trees; 0: all have */
	struct tally_contexts contexts;
	struct tally_places places;
	struct tally_call_tree tree;
	enum tally_tree_key tree_key;
	bool branch_history;
	struct tree_lines *lines; /* NULL: trees are of functions */
	struct tally_rows rows;
	struct profile_sum *sums; /* by event */
	uint32_t event_count;
	uint64_t (*sides)[SIDES]; /* by row; NULL: not asked for */
	bool has_guests;          /* some of them are of guests */
	struct key_parallel *parallel;
	struct tally_cycles *cycles; /* NULL: not asked for, or there are none */
};

/* Fills in the defaults of options.  0, -E2BIG or -EINVAL. */
int tally_profile_options_take(struct tally_profile_options *ret,
			       const struct tally_profile_options *options,
			       struct tally_error *error);
/* A profile without samples, and the plan of what it takes, for tally_profile_plan_done().  Options
 * that events without call chains cannot have are switched off; the plan borrows them, and the
 * profile's keys. */
int tally_profile_prepare(struct tally_session *session, struct tally_profile_options *options,
			  struct profile_plan *plan, struct tally_profile **ret,
			  struct tally_error *error);
void tally_profile_plan_done(struct profile_plan *plan);
/* What tally_profile_row() says of the row with that handle, into a struct of zeros; for those who
 * read many rows, as it copies nothing. */
void tally_profile_row_fill(const struct tally_profile *profile, uint32_t handle,
			    struct tally_profile_row *ret);
/* Makes rows and trees of the sums of a worker, which loses them.  0 or -ENOMEM. */
int tally_profile_make(struct tally_profile *profile, const struct profile_plan *plan,
		       struct profile_worker *worker);

static inline bool profile_row_is_small(const struct tally_profile *profile, size_t event,
					const struct tally_row *row)
{
	return rows_is_small(profile->tree_least, row,
			     profile_whole(&profile->sums[event], profile->relative));
}

#endif
