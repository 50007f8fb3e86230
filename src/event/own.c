/* What an event owns: released and copied. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "event/term.h"

#define OWNED 9

static void owned(struct tally_event *event, char ***to)
{
	to[0] = &event->name;
	to[1] = &event->pmu;
	to[2] = &event->cpus;
	to[3] = &event->unit;
	to[4] = &event->warning;
	to[5] = &event->terms.call_graph;
	to[6] = &event->terms.metric_id;
	to[7] = &event->terms.driver;
	to[8] = &event->source;
}

void tally_event_done(struct tally_event *event)
{
	char **texts[OWNED];

	owned(event, texts);
	for (size_t i = 0; i < OWNED; i++)
		free(*texts[i]);
	*event = (struct tally_event){0};
}

int tally_event_copy(struct tally_event *to, const struct tally_event *from)
{
	struct tally_event made = *from;
	char **texts[OWNED];
	int result = 0;

	owned(&made, texts);
	for (size_t i = 0; i < OWNED; i++) {
		const char *text = *texts[i];

		*texts[i] = text ? strdup(text) : NULL;
		if (text && !*texts[i])
			result = -ENOMEM;
	}
	if (result)
		tally_event_done(&made);
	else
		*to = made;
	return result;
}
