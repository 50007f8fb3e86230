/* Counts by hand. */
#ifndef TALLY_TESTS_MADE_COUNTS_H
#define TALLY_TESTS_MADE_COUNTS_H

#include <linux/perf_event.h>
#include <tally/count.h>

#define HARDWARE(what)                                                     \
	{                                                                  \
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_##what \
	}
#define SOFTWARE(what)                                                     \
	{                                                                  \
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_##what \
	}

static inline struct tally_count counted(uint64_t raw, uint64_t enabled, uint64_t running)
{
	return (struct tally_count){
	    .raw = raw,
	    .time_enabled = enabled,
	    .time_running = running,
	    .places = 1,
	    .quality = tally_count_judge(raw, enabled, running),
	};
}

#endif
