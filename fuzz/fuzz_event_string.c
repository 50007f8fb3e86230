/* Any string to the event parser; what it takes must format to a name that it takes again, as the
 * same event.  The tracefs given is not there, so that no answer depends on the machine. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tally/event.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct tally_event_options options = {
    .size = sizeof(options), .sysfs = "/nonexistent", .tracefs = "/nonexistent"};

static void format_back(const struct tally_event *event)
{
	struct tally_event_list again;
	struct tally_attr attr;
	char name[512];
	int length = tally_event_format(&event->attr, &options, name, sizeof(name));

	if (length <= 0 || (size_t)length >= sizeof(name))
		abort();
	if (tally_event_list_parse(name, &options, &again, NULL) || again.count != 1)
		abort();
	attr = again.events[0].attr;
	/* Kinds of branch are the tool's to tell. */
	attr.branch_sample_type = event->attr.branch_sample_type;
	if (memcmp(&attr, &event->attr, sizeof(attr)))
		abort();
	tally_event_list_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tally_event_list list = {0};
	struct tally_error error = {0};
	char *text = malloc(size + 1);
	int result;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	result = tally_event_list_parse(text, &options, &list, &error);
	if (result) {
		if (list.count || error.code != result || !error.text[0] ||
		    error.position > (int64_t)strlen(text))
			abort();
	}
	for (size_t i = 0; i < list.count; i++) {
		const struct tally_event *event = &list.events[i];

		if (!event->name || !event->name[0] || event->leader > i ||
		    list.events[event->leader].leader != event->leader)
			abort();
		format_back(event);
	}
	tally_event_list_done(&list);
	free(text);
	return 0;
}
