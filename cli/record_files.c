/* A recording that goes on for long: several files, limits, rings that are overwritten, ranges of
 * time. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "record_options.h"
#include "say.h"

/* "100M" with one of `units`, each worth `worth`. */
static bool take_amount(const char *text, const char *units, const uint64_t *worth, uint64_t *ret)
{
	size_t length = strlen(text);
	const char *unit = length ? strchr(units, text[length - 1]) : NULL;
	char number[24];
	uint64_t value;

	if (!unit || length < 2 || length > sizeof(number))
		return false;
	memcpy(number, text, length - 1);
	number[length - 1] = 0;
	if (tally_text_u64(number, &value) || !value || value > INT64_MAX / worth[unit - units])
		return false;
	*ret = value * worth[unit - units];
	return true;
}

static bool take_size(const char *text, uint64_t *ret)
{
	static const uint64_t worth[] = {1, 1 << 10, 1 << 20, 1 << 30};

	return take_amount(text, "BKMG", worth, ret);
}

static bool take_time(const char *text, uint64_t *ret)
{
	static const uint64_t worth[] = {1000000000, 60000000000, 3600000000000, 86400000000000};

	return take_amount(text, "smhd", worth, ret);
}

static int take_switch(void *to, const char *value, bool on, struct tally_error *error)
{
	static const char *const moments[] = {"signal", "a size (100M)", "a time (30s, 5m, 2h, 1d)",
					      NULL};
	struct tally_recorder_files *files = to;

	files->switches = on;
	files->most_bytes = files->most_ns = 0;
	if (!on || !value || !strcmp(value, "signal") || take_size(value, &files->most_bytes) ||
	    take_time(value, &files->most_ns))
		return 0;
	return cli_refuse_listed(error, value, strlen(value), "moment", moments);
}

static int take_switch_event(void *to, const char *value, bool on, struct tally_error *error)
{
	struct tally_event_options options = {.size = sizeof(options)};
	struct tally_event_list *list = to;

	if (on)
		return tally_event_list_append(list, value, &options, error);
	tally_event_list_done(list);
	*list = (struct tally_event_list){0};
	return 0;
}

static int take_most(void *to, const char *value, bool on, struct tally_error *error)
{
	uint64_t *most = to;

	*most = 0;
	if (!on || take_size(value, most))
		return 0;
	return cli_refuse(error, "'%s' is not a size: give one as 500K, 100M or 2G", value);
}

/* --- -D: a delay, or ranges as 10-20,30-40 --- */

static bool take_range(char *text, struct tally_recorder_range *ret)
{
	char *end = strchr(text, '-');

	if (!end)
		return false;
	*end++ = 0;
	return !tally_text_u64(text, &ret->begin_ms) && !tally_text_u64(end, &ret->end_ms) &&
	       ret->begin_ms < ret->end_ms && ret->end_ms <= INT_MAX;
}

static int take_ranges(struct record *record, const char *value, struct tally_error *error)
{
	char *text = strdup(value), *rest = text, *word;
	uint64_t after = 0;
	int result = 0;

	if (!text)
		return -ENOMEM;
	while (!result && (word = strsep(&rest, ","))) {
		struct tally_recorder_range *more =
		    reallocarray(record->ranges, record->range_count + 1, sizeof(*more));

		if (!more) {
			result = -ENOMEM;
			break;
		}
		record->ranges = more;
		if (!take_range(word, &more[record->range_count]) ||
		    (record->range_count && more[record->range_count].begin_ms <= after))
			result = cli_refuse(error,
					    "'%s' are not ranges of milliseconds: give them one "
					    "after the other, as "
					    "10-20,30-40",
					    value);
		else
			after = more[record->range_count++].end_ms;
	}
	free(text);
	return result;
}

int record_take_delay(void *to, const char *value, bool on, struct tally_error *error)
{
	struct record *record = to;
	uint64_t number = 0;

	record->delay_ms = 0;
	record->range_count = 0;
	if (!on)
		return 0;
	if (!strcmp(value, "-1")) {
		record->delay_ms = -1;
		return 0;
	}
	if (strchr(value, '-'))
		return take_ranges(record, value, error);
	if (tally_text_u64(value, &number) || number > INT_MAX)
		return cli_refuse(error,
				  "'%s' is not a delay: give a number of milliseconds, -1, or "
				  "ranges as 10-20,30-40",
				  value);
	record->delay_ms = (int64_t)number;
	return 0;
}

/* --- rows --- */

size_t record_files_rows(struct record *record, struct cli_option *to)
{
	const struct cli_option rows[] = {
	    {CLI_GROUP, .help = "Long recordings"},
	    {CLI_CALL, 0, "switch-output", "WHEN",
	     "several files, named by the time of their end: a new one at SIGUSR2 (signal, the "
	     "default), at a size as 100M, "
	     "or after a time as 30s, 5m, 2h, 1d",
	     &record->files, .flags = CLI_OPTIONAL | CLI_ATTACHED, .call = take_switch},
	    {CLI_CALL, 0, "switch-output-event", "EVENT",
	     "a new file when one of these events happens", &record->switch_events,
	     .call = take_switch_event},
	    {CLI_U64, 0, "switch-max-files", "N", "keep the newest N files only",
	     &record->switch_keep},
	    {CLI_FLAG, 0, "timestamp-filename", NULL,
	     "append the time to the name of the recording", &record->files.timestamp},
	    {CLI_CALL, 0, "max-size", "SIZE",
	     "end the recording when its file has this size: 500K, 100M, 2G", &record->most_bytes,
	     .call = take_most},
	    {CLI_FLAG, 0, "overwrite", NULL,
	     "rings whose oldest samples are overwritten, and that are written at SIGUSR2, a "
	     "snapshot or the end",
	     &record->overwrite},
	    {CLI_STRING, 0, "control", "WHERE",
	     "follow orders (enable, disable, snapshot, evlist, stop, ping) from fd:N[,M] or "
	     "fifo:PATH[,PATH], and answer "
	     "to the second one",
	     &record->control},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}

bool record_files_take(struct record *record, struct tally_recorder_options *to)
{
	struct tally_recorder_files *files = &record->files;

	to->most_bytes = record->most_bytes;
	to->overwrite = record->overwrite;
	to->ranges = record->ranges;
	to->range_count = record->range_count;
	files->switches |= record->switch_events.count != 0;
	if (record->switch_keep && !files->switches) {
		cli_say(record->command,
			"--switch-max-files is for several files: add --switch-output");
		return false;
	}
	if (!files->switches && !files->timestamp)
		return true;
	if (!strcmp(to->output, "-")) {
		cli_say(record->command,
			"a stream to standard output is one file: give a file with -o");
		return false;
	}
	files->size = sizeof(*files);
	files->keep = record->switch_keep;
	files->events = &record->switch_events;
	to->files = files;
	return true;
}

void record_files_done(struct record *record)
{
	tally_event_list_done(&record->switch_events);
	free(record->ranges);
}
