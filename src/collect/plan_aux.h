/* The event of a recording that writes a trace to an AUX area, and samples that take parts of it.
 */
#ifndef TALLY_COLLECT_PLAN_AUX_H
#define TALLY_COLLECT_PLAN_AUX_H

#include "collect/event_plan.h"
#include "collect/plan_terms.h"

/* With a trace, and with several threads that drain, copies of stacks stay in the file: nobody here
 * unwinds them. */
void tally_plan_aux_chain(const struct tally_recorder_options *options,
			  struct tally_chain_plan *chain);

/* Fills plan->aux and completes the attrs; the side-band's is the last.  Without such an event
 * options that need one are refused.  0 or -errno with words. */
int tally_plan_aux(const struct tally_recorder_options *options, const struct tally_limits *limits,
		   const struct tally_targets *targets, struct tally_plan *plan,
		   struct tally_error *error);

#endif
