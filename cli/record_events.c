/* What `tally record` samples: events, how often, from when on. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <tally/text.h>
#include "record_options.h"
#include "say.h"

static int take_event(void *to, const char *value, bool on, struct tally_error *error)
{
	struct tally_event_options options = {.size = sizeof(options)};
	struct tally_event_list *list = to;
	size_t before = list->count;
	int result;

	if (!on) {
		tally_event_list_done(to);
		*(struct tally_event_list *)to = (struct tally_event_list){0};
		return 0;
	}
	result = tally_event_list_append(to, value, &options, error);
	for (size_t i = before; !result && i < list->count; i++) {
		const struct tally_event *event = &list->events[i];

		if (event->warning)
			cli_say("record", "%s", event->warning);
		if (!event->tool)
			continue;
		error->code = result = -EOPNOTSUPP;
		error->position = -1;
		(void)snprintf(error->text, sizeof(error->text),
			       "%s cannot be sampled: tally computes it itself", event->name);
	}
	return result;
}

static int take_delay(void *to, const char *value, bool on, struct tally_error *error)
{
	uint64_t number = 0;
	int64_t *delay = to;

	if (!on) {
		*delay = 0;
		return 0;
	}
	if (!strcmp(value, "-1")) {
		*delay = -1;
		return 0;
	}
	if (tally_text_u64(value, &number) || number > INT_MAX)
		return cli_refuse(
		    error, "'%s' is not a delay: give a number of milliseconds, or -1", value);
	*delay = (int64_t)number;
	return 0;
}

size_t record_event_rows(struct record *record, struct cli_option *to)
{
	const struct cli_option rows[] = {
	    {CLI_GROUP, .help = "What to sample"},
	    {CLI_CALL, 'e', "event", "EVENT", "events, by perf's names (default: cycles)",
	     &record->events, .call = take_event},
	    {CLI_STRING, 'F', "freq", "HZ", "samples per second, or max (default: 4000)",
	     &record->frequency},
	    {CLI_U64, 'c', "count", "N", "one sample every N events, instead of a frequency",
	     &record->period},
	    {CLI_CALL, 'D', "delay", "MS",
	     "start this many milliseconds after the command; -1: do not start", &record->delay_ms,
	     .call = take_delay},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}

static bool parse_frequency(const char *text, struct tally_recorder_options *options)
{
	if (!strcmp(text, "max")) {
		options->max_frequency = true;
		return true;
	}
	if (!tally_text_u64(text, &options->frequency) && options->frequency &&
	    options->frequency <= INT_MAX)
		return true;
	cli_say("record", "'%s' is not a frequency: give a number of samples per second, or max",
		text);
	return false;
}

bool record_events_take(struct record *record, struct tally_recorder_options *to)
{
	to->events = &record->events;
	to->period = record->period;
	to->delay_ms = record->delay_ms;
	return !record->frequency || parse_frequency(record->frequency, to);
}

void record_events_done(struct record *record)
{
	tally_event_list_done(&record->events);
}
