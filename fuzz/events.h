/* Any string to the event parser; what it takes must format to a name that it takes again, as the
 * same event. */
#ifndef TALLY_FUZZ_EVENTS_H
#define TALLY_FUZZ_EVENTS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tally/event.h>

static void format_back(const struct tally_event *event, const struct tally_event_options *options)
{
	struct tally_event_list again;
	struct tally_attr attr;
	int length = tally_event_format(&event->attr, options, NULL, 0);
	char *name = length > 0 ? malloc((size_t)length + 1) : NULL;

	if (!name || tally_event_format(&event->attr, options, name, (size_t)length + 1) != length)
		abort();
	if (tally_event_list_parse(name, options, &again, NULL) || again.count != 1)
		abort();
	attr = again.events[0].attr;
	attr.branch_sample_type = event->attr.branch_sample_type; /* the tool decides */
	if (memcmp(&attr, &event->attr, sizeof(attr)))
		abort();
	tally_event_list_done(&again);
	free(name);
}

static void parse_events(const uint8_t *data, size_t size,
			 const struct tally_event_options *options)
{
	struct tally_event_list list = {0};
	struct tally_error error = {0};
	char *text = malloc(size + 1);
	int result;

	if (!text)
		return;
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	result = tally_event_list_parse(text, options, &list, &error);
	if (result && (list.count || error.code != result || !error.text[0] ||
		       error.position > (int64_t)strlen(text)))
		abort();
	for (size_t i = 0; i < list.count; i++) {
		const struct tally_event *event = &list.events[i];

		if (!event->name || !event->name[0] || event->leader > i ||
		    list.events[event->leader].leader != event->leader)
			abort();
		format_back(event, options);
	}
	tally_event_list_done(&list);
	free(text);
}

#endif
