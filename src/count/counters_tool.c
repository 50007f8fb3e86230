/* What the kernel has no event for: the wall clock, and the CPU time of a command or of the calling
 * thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "base/fs.h"
#include "count/counters.h"

#define SECOND 1000000000ULL

static uint64_t of_timeval(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * SECOND + (uint64_t)time->tv_usec * 1000;
}

static uint64_t of_usage(const struct rusage *usage, enum tally_tool_event tool)
{
	return of_timeval(tool == TALLY_TOOL_USER_TIME ? &usage->ru_utime : &usage->ru_stime);
}

/* CPU time of a process that runs, with the children that it waited for. Source: proc(5),
 * /proc/pid/stat, fields 14 to 17, in ticks. */
static int of_process(const struct tally_counters *set, enum tally_tool_event tool, uint64_t *ret)
{
	unsigned long long utime, stime, cutime, cstime;
	long ticks = sysconf(_SC_CLK_TCK);
	char *text, *at;
	int result =
	    tally_fs_readf(65536, &text, NULL, "%s/proc/%d/stat", set->root, set->workload.pid);

	if (result)
		return result;
	/* A name may contain any byte; the fields behind its last parenthesis are numbers. */
	at = strrchr(text, ')');
	result = -EBADMSG;
	for (int field = 2; at && field < 14; field++)
		at = strchr(at + 1, ' ');
	if (at && ticks > 0) {
		utime = strtoull(at, &at, 10);
		stime = strtoull(at, &at, 10);
		cutime = strtoull(at, &at, 10);
		cstime = strtoull(at, &at, 10);
		utime = tool == TALLY_TOOL_USER_TIME ? utime + cutime : stime + cstime;
		*ret = utime * (SECOND / (unsigned long)ticks);
		result = 0;
	}
	free(text);
	return result;
}

static int clock_now(struct tally_counters *set, enum tally_tool_event tool, uint64_t *ret)
{
	if (tool == TALLY_TOOL_DURATION_TIME) {
		struct timespec now;

		clock_gettime(CLOCK_MONOTONIC, &now);
		*ret = (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
		return 0;
	}
	if (set->workload.pid) {
		if (!tally_workload_check(&set->workload))
			return of_process(set, tool, ret);
		*ret = of_usage(&set->workload.usage, tool);
		return 0;
	}
	if (set->place_count == 1 && set->places[0].tid == 0) {
		struct rusage usage;

		if (getrusage(RUSAGE_THREAD, &usage))
			return -errno;
		*ret = of_usage(&usage, tool);
		return 0;
	}
	return -EOPNOTSUPP;
}

void tally_counters_tools_run(struct tally_counters *set, bool run)
{
	if (set->enabled == run)
		return;
	set->enabled = run;
	for (int tool = TALLY_TOOL_DURATION_TIME; tool <= TALLY_TOOL_SYSTEM_TIME; tool++) {
		uint64_t now = 0;

		if (!(set->tools >> tool & 1) || clock_now(set, tool, &now))
			continue;
		if (run)
			set->clocks[tool].since = now;
		else if (now > set->clocks[tool].since)
			set->clocks[tool].sum += now - set->clocks[tool].since;
	}
}

void tally_counters_tool_read(struct tally_counters *set, size_t event, struct tally_count *ret)
{
	enum tally_tool_event tool = set->events[event].tool;
	const struct tally_tool_clock *clock = &set->clocks[tool];
	uint64_t now = 0, sum = clock->sum;

	if (clock_now(set, tool, &now)) {
		*ret = (struct tally_count){.quality = TALLY_COUNT_NOT_SUPPORTED};
		return;
	}
	if (set->enabled && now > clock->since)
		sum += now - clock->since;
	*ret = (struct tally_count){
	    .raw = sum,
	    .time_enabled = sum,
	    .time_running = sum,
	    .places = 1,
	    .quality = sum ? TALLY_COUNT_COUNTED : TALLY_COUNT_IDLE,
	};
}
