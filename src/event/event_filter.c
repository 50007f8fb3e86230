/* Filters of events. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/abi.h>
#include <tally/event.h>
#include "base/fail.h"
#include "base/fs.h"
#include "event/filter_kind.h"
#include "filter/filter_program.h"

bool tally_filter_is_code(const char *filter)
{
	static const char *const actions[] = {"filter", "start", "stop", "tracestop"};
	const char *word = filter + strspn(filter, " \t\n");
	size_t length = strcspn(word, " \t\n");

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strlen(actions[i]) == length && !memcmp(actions[i], word, length))
			return true;
	return false;
}

enum tally_filter_kind tally_filter_kind_of(const struct tally_event *event, const char *filter)
{
	bool probe =
	    event->probe ||
	    (event->pmu && (!strcmp(event->pmu, "uprobe") || !strcmp(event->pmu, "kprobe")));

	if (event->attr.type == PERF_TYPE_TRACEPOINT || probe)
		return TALLY_FILTER_FIELDS;
	return tally_filter_is_code(filter) ? TALLY_FILTER_CODE : TALLY_FILTER_PROGRAM;
}

/* Source: Documentation/ABI/testing/sysfs-bus-event_source-devices: nr_addr_filters. */
static int check_code(const struct tally_event *event, struct tally_error *error)
{
	long long most = 0;
	char *text;

	if (event->pmu &&
	    !tally_fs_readf(64, &text, NULL, "/sys/bus/event_source/devices/%s/nr_addr_filters",
			    event->pmu)) {
		most = strtoll(text, NULL, 10);
		free(text);
	}
	if (most > 0)
		return 0;
	return tally_fail(error, -EOPNOTSUPP, -1,
			  "%s: filters of code are for hardware that writes traces and compares "
			  "addresses (nr_addr_filters in sysfs), as intel_pt",
			  event->name);
}

static int check(const struct tally_event *event, const char *filter, struct tally_error *error)
{
	struct tally_filter_program *program;
	int result;

	switch (tally_filter_kind_of(event, filter)) {
	case TALLY_FILTER_FIELDS:
		return 0; /* the kernel checks it */
	case TALLY_FILTER_CODE:
		return check_code(event, error);
	default:
		break;
	}
	program = malloc(sizeof(*program));
	result = program ? tally_filter_compile(filter, program, error)
			 : tally_fail(error, -ENOMEM, -1, "out of memory");
	free(program);
	return result;
}

int tally_event_set_filter(struct tally_event *event, const char *filter, struct tally_error *error)
{
	size_t room = strlen(filter) + (event->filter ? strlen(event->filter) : 0) + 16;
	int result = check(event, filter, error);
	char *text;

	if (result)
		return result;
	if (event->filter && tally_filter_is_code(filter) != tally_filter_is_code(event->filter))
		return tally_fail(error, -EINVAL, -1,
				  "%s: a filter of code and one of samples exclude each other",
				  event->name);
	text = malloc(room);
	if (!text)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	if (event->filter && tally_filter_kind_of(event, filter) == TALLY_FILTER_CODE)
		snprintf(text, room, "%s,%s", event->filter, filter); /* ranges of code add up */
	else if (event->filter)
		snprintf(text, room, "(%s) && (%s)", event->filter, filter);
	else
		snprintf(text, room, "%s", filter);
	free(event->filter);
	event->filter = text;
	return 0;
}
