/* The attrs that a recording opens: the events completed for sampling, and one more event, the
 * side-band, which has no samples and reports processes and maps. */
#ifndef TALLY_COLLECT_EVENT_PLAN_H
#define TALLY_COLLECT_EVENT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/error.h>
#include <tally/limits.h>
#include <tally/open.h>
#include <tally/recorder.h>
#include "aux/aux_kind.h"
#include "collect/notice.h"
#include "collect/targets.h"
#include "event/filter_kind.h"

struct tally_planned {
	struct tally_attr attr;
	char *name;
	uint32_t leader;
	bool each_hit;        /* a place in code: by default each hit is a sample */
	bool points;          /* attr.config1 points to text, only while it is opened */
	bool precise_max;     /* asked for the highest precise_ip */
	bool privilege_given; /* u, k or h was asked for: it is not changed */
	bool opened_once;     /* attr is what this kernel accepts */
	bool unwinds;         /* the recorder makes chains of the copies of the stack, in `attr` */
	bool chain_named;     /* they were asked for by name: their lack is worth a line */
	bool stack_given;     /* so was the size of a copy: it is not changed */
	bool stack_needed;    /* nothing but copies of the stack will do */
	bool off_cpu;         /* offcpu-time: its records become samples of blocked threads */
	uint32_t kept;        /* TALLY_RELAXED_* that a person asked for: they are not given up */
	const char *filter;   /* borrowed; NULL: none */
	enum tally_filter_kind filter_kind;
	int filter_fd;          /* of its BPF program; below 0: not loaded */
	const char *cgroup;     /* borrowed; NULL: everywhere */
	int cgroup_fd;          /* below 0: not open */
	unsigned precise_asked; /* precise_ip before the opening */
	uint32_t given_up;      /* when it was opened: TALLY_RELAXED_* */
	uint64_t *ids;
	size_t id_count, id_room;
};

/* The last event is the side-band. */
struct tally_plan {
	struct tally_planned *events;
	size_t count;
	struct tally_aux_plan aux; /* kind NULL: no event writes a trace */
};

int tally_plan_make(const struct tally_recorder_options *options, const struct tally_limits *limits,
		    const struct tally_targets *targets, const struct tally_notice *notice,
		    struct tally_plan *ret, struct tally_error *error);
void tally_plan_done(struct tally_plan *plan);

/* The attr of the samples that are written: without what chains were made of. */
struct tally_attr tally_plan_file_attr(const struct tally_planned *event);
/* The same of samples that are written as they were recorded, with copies of stacks. */
struct tally_attr tally_plan_stacks_attr(const struct tally_planned *event);

/* An attr of the events that sample, when all of them have the time at the same offset; else NULL.
 */
const struct tally_attr *tally_plan_timed(const struct tally_plan *plan);

static inline size_t tally_plan_sideband(const struct tally_plan *plan)
{
	return plan->count - 1;
}

/* Opens an event for the first time, and gives up what is not available: copies of the stack
 * quietly, unless a person named them. An event that gave up the kernel's side gets a name that
 * says so, and a bit in given_up; the rest is a notice. The descriptor, or -errno with words. */
int tally_plan_open_first(struct tally_planned *event, const struct tally_open_target *target,
			  const struct tally_limits *limits, const struct tally_notice *notice,
			  struct tally_error *error);

/* Makes copies of stacks smaller, where nobody said how large, until rings of so many bytes have
 * room for some dozens, and for those of some milliseconds. The size that it chose, or 0 when all
 * stay. */
uint32_t tally_plan_fit_stacks(struct tally_plan *plan, size_t ring_bytes);

/* Bytes of samples that one CPU makes in a second, estimated from frequencies; 0: unknown. */
uint64_t tally_plan_rate(const struct tally_plan *plan);

#endif
