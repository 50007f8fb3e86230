#include "recorder/schedule.h"

#include <errno.h>

#define NS_PER_MS 1000000LL

int tally_schedule_check(const struct tally_recorder_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ranges[i].begin_ms >= ranges[i].end_ms ||
		    ranges[i].end_ms > TALLY_RECORDER_RANGE_OPEN ||
		    (i && ranges[i].begin_ms <= ranges[i - 1].end_ms))
			return -EINVAL;
	return 0;
}

void tally_schedule_init(struct tally_schedule *schedule, const struct tally_recorder_range *ranges,
			 size_t count, int64_t delay_ms, int64_t now)
{
	*schedule = (struct tally_schedule){.ranges = ranges, .count = count, .start = now};
	if (count || delay_ms <= 0)
		return;
	schedule->one =
	    (struct tally_recorder_range){(uint64_t)delay_ms, TALLY_RECORDER_RANGE_OPEN};
	schedule->count = 1;
}

static const struct tally_recorder_range *range_of(const struct tally_schedule *schedule)
{
	return schedule->ranges ? &schedule->ranges[schedule->at] : &schedule->one;
}

int64_t tally_schedule_next(const struct tally_schedule *schedule)
{
	uint64_t ms;

	if (schedule->at == schedule->count)
		return -1;
	ms = schedule->inside ? range_of(schedule)->end_ms : range_of(schedule)->begin_ms;
	return ms >= TALLY_RECORDER_RANGE_OPEN ? -1 : schedule->start + (int64_t)ms * NS_PER_MS;
}

int tally_schedule_pass(struct tally_schedule *schedule, int64_t now)
{
	int64_t due = tally_schedule_next(schedule);

	if (due < 0 || now < due)
		return 0;
	schedule->inside = !schedule->inside;
	if (schedule->inside)
		return 1;
	schedule->at++;
	return -1;
}
