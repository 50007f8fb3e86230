/* Events that begin the next file of a recording: they have rings of their own, whose samples are
 * not kept. */
#ifndef TALLY_RECORDER_TRIGGER_H
#define TALLY_RECORDER_TRIGGER_H

#include <stdbool.h>
#include <tally/error.h>
#include <tally/recorder.h>
#include "collect/openset.h"

struct tally_trigger { /* all zero: no events */
	struct tally_plan plan;
	struct tally_openset set;
};

/* `options` are the recording's, of which the events are replaced. 0 or -errno with words. */
int tally_trigger_open(const struct tally_recorder_options *options,
		       const struct tally_event_list *events, const struct tally_limits *limits,
		       const struct tally_targets *targets, const struct tally_notice *notice,
		       struct tally_trigger *ret, struct tally_error *error);
void tally_trigger_close(struct tally_trigger *trigger);
void tally_trigger_enable(const struct tally_trigger *trigger);
/* Whether one of them happened since the last call. */
bool tally_trigger_hit(struct tally_trigger *trigger);

#endif
