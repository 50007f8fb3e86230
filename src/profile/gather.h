/* One thread's share of a profile: samples in, a call tree and contexts out. */
#ifndef TALLY_PROFILE_GATHER_H
#define TALLY_PROFILE_GATHER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/table.h"
#include "profile/calls.h"
#include "profile/contexts.h"
#include "profile/sample_filter.h"
#include "profile/flat.h"
#include "profile/keys.h"
#include "profile/tree_rows.h"

/* What all threads share while samples are read; read only. */
struct tally_gather_plan {
	const struct tally_session *session;
	const struct tally_profile_options *options;
	const struct profile_keys *keys;
	uint64_t want;          /* PERF_SAMPLE_* */
	const uint64_t *period; /* by event: of samples that do not tell theirs */
	uint32_t event_count;
	const struct tally_tree_rows *only; /* NULL: all samples */
	bool spots;                         /* note where each sample led */
	bool reads; /* samples that read counters are one of each that moved */
};

struct tally_gather_sum {
	uint64_t samples, total;       /* of all */
	uint64_t passed, passed_total; /* of those that passed the filters */
};

/* An address that was sampled, and the frame it led to. */
struct tally_gather_spot {
	uint32_t hash, frame;
};

/* The period that shares are of. */
static inline uint64_t gather_whole(const struct tally_gather_sum *sum, bool relative)
{
	return relative ? sum->passed_total : sum->total;
}

struct tally_gather_seen; /* a chain that was seen, and where it led */

struct tally_gather {
	const struct tally_gather_plan *plan;
	struct tally_calls calls;
	struct tally_contexts contexts;
	struct tally_filter filter;
	struct tally_gather_sum *sums;   /* by event */
	struct tally_gather_spot *spots; /* with plan->spots; an address may be there many times */
	uint32_t spot_count, spot_room;
	struct tally_flat flat; /* without plan->options->callchains */
	struct tally_gather_seen *seen;
	uint32_t seen_room; /* a power of two; grows with the call tree */
	uint32_t *path;     /* of the last chain: the node of each frame, outermost first */
	uint32_t path_room, path_depth, path_root;
	bool filters_tasks, filters_frames;
	/* The last context, what it was made of, and its node. */
	struct key_sample last;
	uint32_t last_context, last_root;
} __attribute__((aligned(TABLE_APART)));

/* More spots than these are not kept: spot_count is then TALLY_SPOTS_MANY. */
#define TALLY_SPOTS_MOST (1u << 20)
#define TALLY_SPOTS_MANY UINT32_MAX

int tally_gather_init(struct tally_gather *gather, const struct tally_gather_plan *plan);
void tally_gather_done(struct tally_gather *gather);
/* Fetches what a sample with a chain that comes soon will need (tally_ahead_fn). */
void tally_gather_ahead(const struct tally_gather *gather, struct tally_resolved *sample,
			unsigned stage);
/* Takes one sample. 0 or -ENOMEM. */
int tally_gather_add(struct tally_gather *gather, struct tally_resolver *resolver,
		     const struct tally_resolved *sample);
/* Takes one that the session's filters left out: it is one of all.  0. */
int tally_gather_leave_out(struct tally_gather *gather, const struct tally_resolved *sample);
/* The same as tally_gather_add() for a run of samples, of which no chains are wanted. */
int tally_gather_add_run(struct tally_gather *gather, struct tally_resolver *resolver,
			 const struct tally_sample_run *run);
/* Takes what waits to be looked up together with more: once, before the gather is used.  0 or
 * -ENOMEM. */
int tally_gather_settle(struct tally_gather *gather, struct tally_resolver *resolver);
/* Notes where an address led.  0 or -ENOMEM. */
int tally_gather_note(struct tally_gather *gather, uint64_t addr, uint32_t frame);
/* Takes all of another; 0 or -ENOMEM. */
int tally_gather_merge(struct tally_gather *gather, struct tally_gather *from);

#endif
