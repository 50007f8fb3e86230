#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "interrupt.h"

#define SECOND   1000000000ULL
#define MEGABYTE 1000000U

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

void cli_progress_start(struct cli_progress *progress, const char *what)
{
	*progress =
	    (struct cli_progress){.what = what, .start = now(), .terminal = isatty(STDERR_FILENO)};
}

int cli_progress_update(void *context, uint64_t done, uint64_t total)
{
	struct cli_progress *progress = context;
	uint64_t time;

	if (cli_interrupted())
		return 1;
	if (!progress->terminal)
		return 0;
	time = now();
	if (time - progress->start < SECOND || time - progress->last < SECOND / 10)
		return 0;
	progress->last = time;
	progress->shown = true;
	if (!total)
		fprintf(stderr, "\r%s %llu MB\033[K", progress->what,
			(unsigned long long)(done / 1000000));
	else
		fprintf(stderr, "\r%s %u %%\033[K", progress->what,
			(unsigned)(100.0 * (double)(done < total ? done : total) / (double)total));
	return 0;
}

void cli_progress_done(struct cli_progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}

int cli_data_open(const char *path, uint64_t expand_mb, struct tally_data **ret,
		  struct tally_error *error)
{
	struct cli_progress progress;
	const struct tally_data_options options = {
	    .size = sizeof(options),
	    .progress = cli_progress_update,
	    .progress_context = &progress,
	    .expand_most = expand_mb < UINT64_MAX / MEGABYTE ? expand_mb * MEGABYTE : UINT64_MAX,
	};
	int result;

	cli_progress_start(&progress, "Reading the recording");
	result = tally_data_open(path, &options, ret, error);
	cli_progress_done(&progress);
	return result;
}
