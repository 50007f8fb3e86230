/* The words of the term aux-action.  Source: perf-record(1) of Linux 6.13, "aux-action". */
#ifndef TALLY_EVENT_AUX_ACTION_H
#define TALLY_EVENT_AUX_ACTION_H

#include <stdint.h>

static const struct event_aux_action {
	const char *word;
	uint32_t bit; /* of attr.aux_action: abi/aux_action.def */
} event_aux_actions[] = {
    {"start-paused", 1 << 0},
    {"pause", 1 << 1},
    {"resume", 1 << 2},
};

#define EVENT_AUX_ACTIONS (sizeof(event_aux_actions) / sizeof(*event_aux_actions))

#endif
