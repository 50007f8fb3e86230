/* Adds two counts up.  One of them was on the hardware for half of the time. */
#include <inttypes.h>
#include <stdio.h>
#include <tally/count.h>

static struct tally_count reading(uint64_t raw, uint64_t enabled, uint64_t running)
{
	return (struct tally_count){
	    .raw = raw,
	    .time_enabled = enabled,
	    .time_running = running,
	    .places = 1,
	    .quality = tally_count_judge(raw, enabled, running),
	};
}

int main(void)
{
	const struct tally_count whole = reading(1000, 80, 80), half = reading(400, 80, 40);
	struct tally_count sum = {0};
	enum tally_count_quality quality;
	uint64_t value;

	tally_count_add(&sum, &whole);
	tally_count_add(&sum, &half);
	quality = tally_count_estimate(&sum, &value);
	printf("%" PRIu64 ", %s, %.0f %% of the time\n", value, tally_count_quality_name(quality),
	       100 * tally_count_share(&sum));
	return 0;
}
