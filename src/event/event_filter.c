/* Filters of events. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/abi.h>
#include <tally/event.h>
#include "base/fail.h"

int tally_event_set_filter(struct tally_event *event, const char *filter, struct tally_error *error)
{
	size_t room = strlen(filter) + (event->filter ? strlen(event->filter) : 0) + 16;
	char *text;

	if (event->attr.type != PERF_TYPE_TRACEPOINT)
		return tally_fail(error, -EOPNOTSUPP, -1,
				  "%s: the kernel filters tracepoints only; leave the filter out, "
				  "or give it after the tracepoint",
				  event->name);
	text = malloc(room);
	if (!text)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	if (event->filter)
		snprintf(text, room, "(%s) && (%s)", event->filter, filter);
	else
		snprintf(text, room, "%s", filter);
	free(event->filter);
	event->filter = text;
	return 0;
}
