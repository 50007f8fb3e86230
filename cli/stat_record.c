/* `tally stat record`: the counts of a run into a perf.data file. */
#include <errno.h>
#include <stdlib.h>
#include <tally/abi.h>
#include "command.h"
#include "say.h"
#include "stat_command.h"

int stat_record_open(struct tally_stat_writer **ret, struct stat_count *count)
{
	const struct stat_ask *ask = count->ask;
	struct tally_writer_event *events = calloc(count->event_count + 1, sizeof(*events));
	struct tally_stat_writer_options options = {
	    .size = sizeof(options),
	    .stat = tally_stat_options(count->stat),
	    .events = events,
	    .counts = count->counts,
	    .interval_ms = ask->interval_ms,
	    .cmdline = ask->cmdline,
	    .cmdline_count = ask->cmdline_count,
	};
	struct tally_error error;
	int status = CLI_OK;

	if (!events) {
		cli_say("stat", "out of memory");
		return CLI_FAILED;
	}
	for (size_t i = 0; i < count->event_count; i++) {
		struct tally_counters_event opened = {.size = sizeof(opened)};

		tally_counters_event(count->set, i, &opened);
		events[i] = (struct tally_writer_event){
		    .attr = opened.attr,
		    .name = opened.name,
		    .leader = opened.leader,
		};
	}
	stat_count_read(count); /* the ids */
	if (tally_stat_writer_open(ask->recording, &options, ret, &error))
		status = cli_say_error("stat", &error);
	free(events);
	return status;
}

int stat_record_round(struct tally_stat_writer *writer, const struct stat_count *count,
		      uint64_t time, bool last)
{
	struct tally_error error;

	if (tally_stat_writer_round(writer, count->counts, time, last, &error))
		return cli_say_error("stat", &error);
	return CLI_OK;
}

int stat_record_close(struct tally_stat_writer *writer)
{
	struct tally_error error;

	return tally_stat_writer_close(writer, &error) ? cli_say_error("stat", &error) : CLI_OK;
}
