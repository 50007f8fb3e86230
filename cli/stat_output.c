/* Where counts are printed, and in which format. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "command.h"
#include "say.h"
#include "stat_command.h"
#include "terminal.h"

#define HEADING_EVERY 25 /* intervals: as in perf */

static char *joined(char *const *words)
{
	size_t length = 3;
	char *text, *at;

	for (size_t i = 0; words[i]; i++)
		length += strlen(words[i]) + 1;
	text = malloc(length);
	if (!text)
		return NULL;
	at = stpcpy(text, "'");
	for (size_t i = 0; words[i]; i++) {
		if (i)
			*at++ = ' ';
		at = stpcpy(at, words[i]);
	}
	stpcpy(at, "'");
	return text;
}

static char *named(const char *what, const struct cli_list *list, const char *text)
{
	char *made = NULL;
	int length = -1;

	if (text)
		return asprintf(&made, "'%s%s'", what, text) < 0 ? NULL : made;
	for (size_t i = 0; i < list->count; i++) {
		char *before = made;

		length = before ? asprintf(&made, "%s,%s", before, list->items[i])
				: asprintf(&made, "%s'%s", what, list->items[i]);
		free(before);
		if (length < 0)
			return NULL;
	}
	if (made) {
		char *before = made;

		length = asprintf(&made, "%s'", before);
		free(before);
	}
	return length < 0 ? NULL : made;
}

static char *title_of(const struct stat_ask *ask)
{
	if (ask->system_wide)
		return strdup("'system wide'");
	if (ask->pids.count)
		return named("process id ", &ask->pids, NULL);
	if (ask->parents.count)
		return named("all below process id ", &ask->parents, NULL);
	if (ask->tids.count)
		return named("thread id ", &ask->tids, NULL);
	if (ask->cpu_count)
		return named("CPU(s) ", NULL, ask->cpus);
	return ask->command ? joined(ask->command) : NULL;
}

/* The descriptor is borrowed: it may be standard output, which is closed at the end. */
static FILE *open_copy(const struct stat_ask *ask)
{
	int given = ask->log_fd > INT_MAX ? -1 : (int)ask->log_fd;
	int fd = fcntl(given, F_DUPFD_CLOEXEC, 3);
	FILE *copy;

	if (fd < 0)
		return NULL;
	copy = fdopen(fd, ask->append ? "a" : "w");
	if (!copy)
		close(fd);
	return copy;
}

static int open_file(struct stat_output *output)
{
	const struct stat_ask *ask = output->ask;
	const char *mode = ask->append ? "ae" : "we";
	time_t now = time(NULL);
	char room[64];

	output->to = stderr;
	if (ask->log_fd)
		output->to = open_copy(ask);
	else if (ask->output && strcmp(ask->output, "-") != 0)
		output->to = fopen(ask->output, mode);
	else
		return CLI_OK;
	if (!output->to) {
		if (ask->log_fd)
			cli_say("stat", "--log-fd %llu: %s", (unsigned long long)ask->log_fd,
				strerror(errno));
		else
			cli_say("stat", "%s: %s", ask->output, strerror(errno));
		return CLI_FAILED;
	}
	output->own = true;
	/* Lines of JSON are for programs: no comment line there, as in perf from 6.12 on. */
	if (!ask->log_fd && output->format < STAT_PERF_JSON && ctime_r(&now, room))
		fprintf(output->to, "# started on %s\n", room);
	return CLI_OK;
}

int stat_output_open(struct stat_output *output, const struct stat_ask *ask)
{
	int status;

	*output = (struct stat_output){
	    .ask = ask,
	    .format = ask->json        ? STAT_OWN_JSON
		      : ask->perf_json ? STAT_PERF_JSON
		      : ask->separator ? STAT_CSV
				       : STAT_TABLE,
	};
	status = open_file(output);
	if (status)
		return status;
	output->title = title_of(ask);
	if (output->format == STAT_TABLE) {
		int fd = fileno(output->to);

		output->terminal = isatty(fd);
		output->colour = cli_term_colour_of(fd);
		output->width = cli_term_width_of(fd);
	}
	if (ask->interval_clear && !output->terminal)
		return cli_usage_error(ask->usage,
				       "--interval-clear needs the table on a terminal");
	return CLI_OK;
}

int stat_output_close(struct stat_output *output)
{
	int status = CLI_OK;

	if (output->to) {
		bool lost = ferror(output->to);

		errno = 0;
		lost |= fflush(output->to) != 0;
		if (output->own)
			lost |= fclose(output->to) != 0;
		if (lost) {
			cli_say("stat", "%s could not be written: %s",
				output->ask->output ? output->ask->output : "the output",
				errno ? strerror(errno) : "it was cut short");
			status = CLI_FAILED;
		}
	}
	free(output->title);
	return status;
}

static struct tally_stat_text_options options_of(const struct stat_output *output)
{
	const struct stat_ask *ask = output->ask;

	return (struct tally_stat_text_options){
	    .size = sizeof(struct tally_stat_text_options),
	    .title = output->title,
	    .separator = ask->separator,
	    .repeated = ask->repeat_given && ask->repeat != 1,
	    .metric_only = ask->metric_only,
	    .skip_zeros = ask->by == TALLY_STAT_THREAD && ask->system_wide,
	    .plain_numbers = !ask->big_num,
	    .command_times = stat_counts_command(ask),
	    .totals_only = ask->null_run,
	    .colour = output->colour,
	    .width = output->width,
	};
}

static void write_counts(const struct stat_output *output, const struct tally_stat *stat,
			 const struct tally_stat_text_options *options)
{
	int result = 0;

	if (output->ask->quiet)
		return;
	/* Earlier output on stdout comes first. */
	fflush(stdout);
	switch (output->format) {
	case STAT_TABLE:
		result = tally_stat_text(stat, options, output->to);
		break;
	case STAT_CSV:
		result = tally_stat_csv(stat, options, output->to);
		break;
	case STAT_PERF_JSON:
		result = tally_stat_perf_json(stat, options, output->to);
		break;
	case STAT_OWN_JSON:
		result = tally_stat_json(stat, options, output->to);
		break;
	}
	if (result == -ENOMEM)
		cli_say("stat", "out of memory");
	fflush(output->to);
}

void stat_output_interval(struct stat_output *output, const struct tally_stat *stat, uint64_t time)
{
	struct tally_stat_text_options options = options_of(output);

	options.intervals = true;
	options.time = time;
	options.heading = output->intervals % HEADING_EVERY == 0 || output->ask->interval_clear;
	if (output->format == STAT_CSV)
		options.heading = !output->intervals;
	if (output->ask->interval_clear)
		fputs("\033[H\033[2J", output->to);
	output->intervals++;
	write_counts(output, stat, &options);
}

void stat_output_end(struct stat_output *output, const struct tally_stat *stat,
		     const struct stat_run_times *times)
{
	struct tally_stat_text_options options = options_of(output);

	options.heading = output->ask->metric_only;
	options.summary = output->ask->summary && !output->ask->no_csv_summary;
	if (output->ask->table) {
		options.run_times = times->ns;
		options.run_time_count = times->count;
	}
	write_counts(output, stat, &options);
}
