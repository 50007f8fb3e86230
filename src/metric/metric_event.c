/* The events that expressions name, each parsed once for all metrics. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/table.h"
#include "metric/metric_inner.h"
#include "event/term.h"

/* "cycles" and "u" -> "cycles:u"; "cpu/x/k" and "u" -> "cpu/x/ku"; an ID may have modifiers. */
static void write_text(struct tally_buf *to, const char *id, const char *modifiers)
{
	const char *slash = strrchr(id, '/'), *colon = strrchr(id, ':');

	tally_buf_text(to, id);
	if (!*modifiers)
		return;
	if (!slash && colon) {
		struct event_word word = {.text = colon + 1, .length = strlen(colon + 1)};

		if (!tally_modifier_looks_like(&word)) /* a tracepoint's name */
			colon = NULL;
	}
	if (!slash && !colon)
		tally_buf_byte(to, ':');
	tally_buf_text(to, modifiers);
}

static struct metric_event *make_room(struct tally_metrics *set)
{
	if (!array_next(&set->events, &set->event_room, set->event_count, 32, sizeof(*set->events)))
		return NULL;
	return &set->events[set->event_count];
}

static bool is_kind_of_core(const char *pmu)
{
	return !strncmp(pmu, "cpu_", 4);
}

/* A metric of one kind of core counts only there. */
static void keep_kind(struct tally_event_list *list, const char *pmu)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct tally_event *event = &list->events[i];

		if (event->pmu && is_kind_of_core(event->pmu) && strcmp(event->pmu, pmu) != 0)
			tally_event_done(event);
		else
			list->events[kept++] = *event;
	}
	list->count = kept;
}

/* Sets what the text parses to; -ENOMEM. */
static int parse(struct tally_metrics *set, struct metric_event *event)
{
	struct tally_error error;
	int result = tally_event_list_parse(event->text, &set->options, &event->list, &error);

	if (result == -ENOMEM)
		return result;
	if (result) {
		event->wrong = tally_arena_strndup(&set->arena, error.text, strlen(error.text));
		return event->wrong ? 0 : -ENOMEM;
	}
	if (event->pmu)
		keep_kind(&event->list, event->pmu);
	if (!event->list.count)
		event->wrong = "its kind of core does not have this event";
	event->tool = event->list.count == 1 && event->list.events[0].tool != TALLY_TOOL_NONE;
	return 0;
}

int64_t tally_metrics_event_of(struct tally_metrics *set, const char *id, const char *modifiers,
			       const char *pmu)
{
	struct metric_event *event = make_room(set);
	struct tally_buf key = {0};
	size_t text;
	int64_t number;

	if (!event)
		return -ENOMEM;
	if (pmu && !is_kind_of_core(pmu))
		pmu = NULL;
	if (!strcmp(id, "duration_time") || !strcmp(id, "user_time") || !strcmp(id, "system_time"))
		modifiers = "", pmu = NULL; /* the tool measures it, not a counter */
	tally_buf_text(&key, pmu ? pmu : "");
	tally_buf_byte(&key, ' ');
	text = key.size;
	write_text(&key, id, modifiers);
	number = key.failed ? -ENOMEM
			    : tally_strings_intern(&set->keys, (const char *)key.data, key.size);
	tally_buf_done(&key);
	if (number < 0 || (size_t)number < set->event_count)
		return number;
	*event = (struct metric_event){.text = set->keys.text[number] + text, .pmu = pmu};
	set->event_count++;
	return parse(set, event) ? -ENOMEM : number;
}
