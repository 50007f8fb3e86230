#include "live/live_fade.h"

#include <errno.h>
#include <stdlib.h>

/* What of an event was left out. */
struct dropped {
	uint64_t least; /* smaller sums are */
	uint64_t samples, period;
};

static void fade_events(struct profile_worker *total, unsigned keep, struct dropped *dropped)
{
	for (uint32_t i = 0; i < total->plan->event_count; i++) {
		struct profile_sum *sum = &total->sums[i];

		dropped[i].least = sum->samples ? sum->total / sum->samples / FADE_LEAST : 0;
		*sum = (struct profile_sum){
		    .samples = faded(sum->samples, keep),
		    .total = faded(sum->total, keep),
		    .passed = faded(sum->passed, keep),
		    .passed_total = faded(sum->passed_total, keep),
		};
	}
}

static uint64_t less(uint64_t sum, uint64_t by)
{
	return sum > by ? sum - by : 0;
}

static void take_dropped(struct profile_worker *total, const struct dropped *dropped)
{
	for (uint32_t i = 0; i < total->plan->event_count; i++) {
		struct profile_sum *sum = &total->sums[i];

		sum->samples = less(sum->samples, dropped[i].samples);
		sum->total = less(sum->total, dropped[i].period);
		sum->passed = less(sum->passed, dropped[i].samples);
		sum->passed_total = less(sum->passed_total, dropped[i].period);
	}
}

static void fade_sums(struct profile_worker *total, struct tally_call_sums *sums, unsigned keep,
		      struct dropped *dropped)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < sums->count; i++) {
		struct tally_call_sum sum = sums->list[i];
		struct dropped *of = &dropped[total->contexts.list[sum.context].event];

		sum.self = faded(sum.self, keep);
		sum.samples = (uint32_t)faded(sum.samples, keep);
		if (sum.self && sum.self >= of->least) {
			sums->list[count++] = sum;
		} else {
			of->samples += sum.samples;
			of->period += sum.self;
		}
	}
	sums->count = count;
	/* Numbers have changed. */
	free(sums->lately);
	sums->lately = NULL;
	sums->lately_room = 0;
}

int tally_live_fade(struct profile_worker *total, unsigned keep)
{
	struct dropped *dropped;

	if (keep >= 128)
		return 0;
	dropped = calloc((size_t)total->plan->event_count + 1, sizeof(*dropped));
	if (!dropped)
		return -ENOMEM;
	fade_events(total, keep, dropped);
	fade_sums(total, &total->calls, keep, dropped);
	take_dropped(total, dropped);
	/* Parts of the rows' sums, which are not added up once more. */
	fade_sums(total, &total->sides, keep, dropped);
	free(dropped);
	return 0;
}
