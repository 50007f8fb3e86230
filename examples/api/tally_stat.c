/* Prints whether one command takes longer than another, from runs that were timed. */
#include <stdio.h>
#include <tally/stat.h>

int main(void)
{
	/* Means and their standard errors, seconds, of ten runs each. */
	const struct tally_stat_mean first = {1.00, 0.01, 10}, second = {1.05, 0.01, 10};
	struct tally_stat_ratio ratio = {.size = sizeof(ratio)};

	if (tally_stat_ratio(&first, &second, 0.95, &ratio))
		return 1;
	printf("%.3f times as long (%.3f to %.3f)%s\n", ratio.ratio, ratio.low, ratio.high,
	       ratio.distinct ? "" : ", which may be chance");
	return 0;
}
