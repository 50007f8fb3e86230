/* The attrs that a recording opens: what was asked for, completed for sampling, and one more event
 * that samples nothing and only tells of processes and maps. */
#ifndef TALLY_COLLECT_EVENT_PLAN_H
#define TALLY_COLLECT_EVENT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/error.h>
#include <tally/limits.h>
#include <tally/open.h>
#include <tally/recorder.h>
#include "collect/notice.h"
#include "collect/targets.h"

struct tally_planned {
	struct tally_attr attr;
	char *name;
	uint32_t leader;
	bool each_one;          /* a place: unless told otherwise each passing is a sample */
	bool points;            /* attr.config1 points to text, for the opening only */
	bool precise_max;       /* asked for the highest precise_ip */
	bool privilege_given;   /* asked for this privilege: it is not lowered */
	bool settled;           /* opened once: attr is what this kernel takes */
	unsigned precise_asked; /* precise_ip before the opening */
	uint32_t given_up;      /* by the opening: TALLY_RELAXED_* */
	uint64_t *ids;
	size_t id_count, id_room;
};

/* The last event is the side-band's. */
struct tally_plan {
	struct tally_planned *events;
	size_t count;
};

int tally_plan_make(const struct tally_recorder_options *options, const struct tally_limits *limits,
		    const struct tally_targets *targets, const struct tally_notice *notice,
		    struct tally_plan *ret, struct tally_error *error);
void tally_plan_done(struct tally_plan *plan);

/* The attr of the events that sample, when all of their samples have the time at one place; else
 * NULL. */
const struct tally_attr *tally_plan_timed(const struct tally_plan *plan);

static inline size_t tally_plan_sideband(const struct tally_plan *plan)
{
	return plan->count - 1;
}

/* Opens an event for the first time: what cannot be had is given up.  What has the kernel's side
 * given up gets a name that tells so, and a bit in given_up; the rest is said.  The descriptor, or
 * -errno with words. */
int tally_plan_settle(struct tally_planned *event, const struct tally_open_target *target,
		      const struct tally_limits *limits, const struct tally_notice *notice,
		      struct tally_error *error);

/* Bytes a second of samples that one CPU may make, as far as frequencies tell; 0: no telling. */
uint64_t tally_plan_rate(const struct tally_plan *plan);

#endif
