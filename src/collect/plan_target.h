/* What an event is opened on besides threads and CPUs: its cgroup, and its filter. */
#ifndef TALLY_COLLECT_PLAN_TARGET_H
#define TALLY_COLLECT_PLAN_TARGET_H

#include <tally/error.h>
#include "collect/event_plan.h"

/* Opens the event's cgroup, once. */
int tally_plan_open_cgroup(struct tally_planned *event, struct tally_error *error);
/* Gives an open event its filter; -EINVAL says which field is unknown. */
int tally_plan_apply_filter(const struct tally_planned *event, int fd, struct tally_error *error);

#endif
