/* What `tally record` samples: events, how often, from when on. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tally/text.h>
#include "cgroup_patterns.h"
#include "record_options.h"
#include "say.h"

static int take_event(void *to, const char *value, bool on, struct tally_error *error)
{
	struct tally_event_options options = {.size = sizeof(options)};
	struct record *record = to;
	struct tally_event_list *list = &record->events;
	size_t before = list->count;
	int result;

	if (!on) {
		tally_event_list_done(list);
		*list = (struct tally_event_list){0};
		cli_list_done(&record->event_texts);
		record->last_event = record->cgroup_at = 0;
		return 0;
	}
	record->last_event = before;
	result = tally_event_list_append(list, value, &options, error);
	if (!result)
		result = cli_list_add(&record->event_texts, value, SIZE_MAX);
	for (size_t i = before; !result && i < list->count; i++) {
		const struct tally_event *event = &list->events[i];

		if (event->warning)
			cli_say(record->command, "%s", event->warning);
		if (!event->tool)
			continue;
		error->code = result = -EOPNOTSUPP;
		error->position = -1;
		(void)snprintf(error->text, sizeof(error->text),
			       "%s cannot be sampled: tally computes it itself", event->name);
	}
	return result;
}

/* "{A,B},C" -> "{pfm:A,pfm:B},pfm:C" */
static int take_pfm_events(void *to, const char *value, bool on, struct tally_error *error)
{
	static const char prefix[] = "pfm:";
	size_t names = 1, at = 0;
	bool begins = true;
	char *text;
	int result;

	if (!on)
		return take_event(to, NULL, false, error);
	for (const char *comma = value; (comma = strchr(comma, ',')); comma++)
		names++;
	text = malloc(strlen(value) + names * sizeof(prefix) + 1);
	if (!text)
		return -ENOMEM;
	for (; *value; value++) {
		if (begins && !strchr("{},", *value)) {
			memcpy(text + at, prefix, sizeof(prefix) - 1);
			at += sizeof(prefix) - 1;
		}
		begins = strchr("{},", *value);
		text[at++] = *value;
	}
	text[at] = 0;
	result = take_event(to, text, true, error);
	free(text);
	return result;
}

static int take_filter(void *to, const char *value, bool on, struct tally_error *error)
{
	struct record *record = to;
	struct tally_event_list *list = &record->events;
	int result = 0;

	if (!on || !list->count)
		return cli_refuse(error, "a filter follows the event (-e) that it is for");
	for (size_t i = record->last_event; i < list->count && !result; i++)
		result = tally_event_set_filter(&list->events[i], value, error);
	return result;
}

static int take_exclude_self(void *to, const char *value, bool on, struct tally_error *error)
{
	char text[64];

	(void)value;
	snprintf(text, sizeof(text), "common_pid != %d", (int)getpid());
	return take_filter(to, text, on, error);
}

/* --for-each-cgroup: the events once more for each further cgroup. */
static bool copy_for_cgroups(struct record *record)
{
	struct tally_event_options options = {.size = sizeof(options)};
	struct tally_event_list *list = &record->events;
	size_t before = list->count, from = 0;
	struct tally_error error;

	if (!record->cgroups.count)
		return true;
	if (!before) {
		cli_say(record->command, "--for-each-cgroup needs events: give them by -e");
		return false;
	}
	for (size_t i = 0; i < record->cgroups.count; i++, from += before) {
		for (size_t j = 0; i && j < record->event_texts.count; j++)
			if (tally_event_list_append(list, record->event_texts.items[j], &options,
						    &error)) {
				cli_say_error(record->command, &error);
				return false;
			}
		for (size_t j = from; j < from + before && j < list->count; j++) {
			struct tally_event *event = &list->events[j];

			event->cgroup = strdup(record->cgroups.items[i]);
			if (!event->cgroup || (i && list->events[j - from].filter &&
					       tally_event_set_filter(
						   event, list->events[j - from].filter, &error))) {
				cli_say(record->command, "out of memory");
				return false;
			}
		}
	}
	return true;
}

size_t record_event_rows(struct record *record, struct cli_option *to)
{
	const struct cli_option rows[] = {
	    {CLI_GROUP, .help = "What to sample"},
	    {CLI_CALL, 'e', "event", "EVENT", "events, by perf's names (default: cycles)", record,
	     .call = take_event},
	    {CLI_CALL, 0, "pfm-events", "EVENTS", "events, by libpfm4's names", record,
	     .call = take_pfm_events},
	    {CLI_CALL, 0, "filter", "FILTER",
	     "only those samples of the event before it that the expression is true for", record,
	     .call = take_filter},
	    {CLI_CALL, 0, "exclude-perf", NULL,
	     "without what the recorder itself does: for the tracepoint before it", record,
	     CLI_BARE, take_exclude_self},
	    {CLI_FLAG, 0, "group", NULL, "all events are one group", &record->group},
	    {CLI_FLAG, 0, "all-user", NULL, "all events in user space alone", &record->all_user},
	    {CLI_FLAG, 0, "all-kernel", NULL, "all events in the kernel alone",
	     &record->all_kernel},
	    {CLI_STRING, 'F', "freq", "HZ", "samples per second, or max (default: 4000)",
	     &record->frequency},
	    {CLI_U64, 'c', "count", "N", "one sample every N events, instead of a frequency",
	     &record->period},
	    {CLI_FLAG, 0, "strict-freq", NULL,
	     "fail where the machine does not allow the frequency", &record->strict_frequency},
	    {CLI_CALL, 'D', "delay", "MS",
	     "start this many milliseconds after the command; -1: do not start; 10-20,30-40: in "
	     "these ranges alone",
	     record, .call = record_take_delay},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}

static bool parse_frequency(const struct record *record, struct tally_recorder_options *options)
{
	const char *text = record->frequency;

	if (!strcmp(text, "max")) {
		options->max_frequency = true;
		return true;
	}
	if (!tally_text_u64(text, &options->frequency) && options->frequency &&
	    options->frequency <= INT_MAX)
		return true;
	cli_say(record->command,
		"'%s' is not a frequency: give a number of samples per second, or max", text);
	return false;
}

bool record_events_take(struct record *record, struct tally_recorder_options *to)
{
	to->events = &record->events;
	to->period = record->period;
	to->delay_ms = record->delay_ms;
	to->strict_frequency = record->strict_frequency;
	to->all_user = record->all_user;
	to->all_kernel = record->all_kernel;
	if (cli_cgroups_expand(record->command, &record->cgroups) || !copy_for_cgroups(record))
		return false;
	for (size_t i = 0; record->group && i < record->events.count; i++)
		record->events.events[i].leader = 0;
	return !record->frequency || parse_frequency(record, to);
}

void record_events_done(struct record *record)
{
	cli_list_done(&record->event_texts);
	tally_event_list_done(&record->events);
}
