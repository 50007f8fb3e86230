/* What an event is opened on besides threads and CPUs: its cgroup, and its filter. */
#ifndef TALLY_COLLECT_PLAN_TARGET_H
#define TALLY_COLLECT_PLAN_TARGET_H

#include <tally/error.h>
#include "collect/event_plan.h"

/* Opens the event's cgroup, once. */
int tally_plan_open_cgroup(struct tally_planned *event, struct tally_error *error);
/* Takes the filter of an event, and has its samples have what the filter needs. */
int tally_plan_filter(const struct tally_event *from, struct tally_planned *to,
		      struct tally_error *error);
/* Gives an open event its filter; -EINVAL says which field is unknown. */
int tally_plan_apply_filter(struct tally_planned *event, int fd, struct tally_error *error);

#endif
