/* When samples are taken: after a delay, or in some ranges of time. */
#ifndef TALLY_RECORDER_SCHEDULE_H
#define TALLY_RECORDER_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/recorder.h>

struct tally_schedule {
	const struct tally_recorder_range *ranges; /* borrowed; ascending */
	size_t count, at;
	struct tally_recorder_range one; /* of a delay */
	bool inside;
	int64_t start; /* ns */
};

/* -EINVAL: a range ends before it begins, or begins before another one ends. */
int tally_schedule_check(const struct tally_recorder_range *ranges, size_t count);
/* All times are ns of one clock. Without ranges and delay nothing ever changes. */
void tally_schedule_init(struct tally_schedule *schedule, const struct tally_recorder_range *ranges,
			 size_t count, int64_t delay_ms, int64_t now);
/* When the next change is due, or -1: never. */
int64_t tally_schedule_next(const struct tally_schedule *schedule);
/* Whether samples begin (1) or end (-1) now; 0: no change. At most one change each time. */
int tally_schedule_pass(struct tally_schedule *schedule, int64_t now);

#endif
