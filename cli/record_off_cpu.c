/* Time that threads are blocked. */
#include <stdlib.h>
#include <string.h>
#include "record_options.h"

#define MOST_MS 86400000.0 /* a day */

static int take_off_cpu(void *to, const char *value, bool on, struct tally_error *error)
{
	struct record *record = to;
	char *end = NULL;
	double ms = on && value ? strtod(value, &end) : 0;

	if (end && (end == value || *end || !(ms >= 0 && ms <= MOST_MS)))
		return cli_refuse(
		    error, "'%s' is not a number of milliseconds: give one as 5 or 0.1", value);
	record->off_cpu = on;
	record->off_cpu_ms = ms;
	return 0;
}

/* perf's way to give the number, beside --off-cpu. */
static int take_threshold(void *to, const char *value, bool on, struct tally_error *error)
{
	struct record *record = to;
	bool off_cpu = record->off_cpu;
	int result = take_off_cpu(to, value, on, error);

	record->off_cpu = off_cpu;
	return result;
}

size_t record_off_cpu_rows(struct record *record, struct cli_option *to)
{
	const struct cli_option rows[] = {
	    {CLI_CALL, 0, "off-cpu", "MS",
	     "also sample where threads are blocked: the event offcpu-time, whose period is the "
	     "time in ns; with MS without "
	     "times that are shorter",
	     record, .flags = CLI_OPTIONAL | CLI_ATTACHED, .call = take_off_cpu},
	    {CLI_CALL, 0, "off-cpu-thresh", "MS",
	     "with --off-cpu: leave out times that are shorter", record, .call = take_threshold},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}

bool record_off_cpu_take(struct record *record, struct tally_recorder_options *to)
{
	to->off_cpu = record->off_cpu;
	to->off_cpu_least_ns = (uint64_t)(record->off_cpu_ms * 1e6);
	return true;
}
