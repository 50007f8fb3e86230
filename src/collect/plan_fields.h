/* What a recorder's options mean for the attrs of events and of the side-band. */
#ifndef TALLY_COLLECT_PLAN_FIELDS_H
#define TALLY_COLLECT_PLAN_FIELDS_H

#include <tally/error.h>
#include <tally/limits.h>
#include <tally/recorder.h>
#include "collect/event_plan.h"
#include "collect/plan_terms.h"

/* Options that exclude each other, and values that no kernel knows. */
int tally_plan_fields_check(const struct tally_recorder_options *options,
			    const struct tally_limits *limits, struct tally_error *error);
/* Of an event that samples; its own terms come after. */
void tally_plan_fields(const struct tally_recorder_options *options, struct tally_planned *event);
/* Of the call chains of all events. */
void tally_plan_fields_chain(const struct tally_recorder_options *options,
			     struct tally_chain_plan *chain);
/* Of an event's chain, when that is in its attr. */
void tally_plan_fields_chained(const struct tally_recorder_options *options,
			       struct tally_attr *attr);
void tally_plan_fields_sideband(const struct tally_recorder_options *options,
				struct tally_planned *sideband);

#endif
