/* Freeing and copying an event. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "event/term.h"

#define OWNED 11

static void probe_free(struct tally_event_probe *probe)
{
	if (!probe)
		return;
	free(probe->path);
	free(probe->symbol);
	free(probe->provider);
	free(probe);
}

static char *copy_text(const char *text, bool *failed)
{
	char *copy = text ? strdup(text) : NULL;

	*failed |= text && !copy;
	return copy;
}

/* The attr of the copy points to the copy's text. See tally_probe_resolve(). */
static int probe_copy(struct tally_event *to, const struct tally_event *from)
{
	struct tally_event_probe *probe = malloc(sizeof(*probe));
	bool failed = false;

	if (!probe)
		return -ENOMEM;
	*probe = *from->probe;
	probe->path = copy_text(from->probe->path, &failed);
	probe->symbol = copy_text(from->probe->symbol, &failed);
	probe->provider = copy_text(from->probe->provider, &failed);
	if (failed) {
		probe_free(probe);
		return -ENOMEM;
	}
	if (probe->path && from->attr.config1 == (uintptr_t)from->probe->path)
		to->attr.config1 = (uintptr_t)probe->path;
	else if (probe->symbol && from->attr.config1 == (uintptr_t)from->probe->symbol)
		to->attr.config1 = (uintptr_t)probe->symbol;
	to->probe = probe;
	return 0;
}

static void owned_texts(struct tally_event *event, char ***to)
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
	to[9] = &event->filter;
	to[10] = &event->cgroup;
}

void tally_event_done(struct tally_event *event)
{
	char **texts[OWNED];

	owned_texts(event, texts);
	for (size_t i = 0; i < OWNED; i++)
		free(*texts[i]);
	probe_free(event->probe);
	*event = (struct tally_event){0};
}

int tally_event_copy(struct tally_event *to, const struct tally_event *from)
{
	struct tally_event made = *from;
	char **texts[OWNED];
	int result = 0;

	made.probe = NULL;
	owned_texts(&made, texts);
	for (size_t i = 0; i < OWNED; i++) {
		const char *text = *texts[i];

		*texts[i] = text ? strdup(text) : NULL;
		if (text && !*texts[i])
			result = -ENOMEM;
	}
	if (!result && from->probe)
		result = probe_copy(&made, from);
	if (result)
		tally_event_done(&made);
	else
		*to = made;
	return result;
}
