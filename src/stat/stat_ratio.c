/* How many times one mean another is, and how many more runs would show it.
 *
 * The interval is made of logarithms: what takes 3 times as long and what takes a third of the time
 * are as far from 1, and no limit passes 0.  The interval of the difference does, where runs
 * scatter much: "121 % less". */
#include <math.h>
#include <tally/stat.h>
#include "base/option_struct.h"

#define POWER 0.8 /* of the runs to come: how often they show what there is */

/* Welch and Satterthwaite's, of squared errors `a` and `b`. */
static double degrees_of(double a, size_t a_runs, double b, size_t b_runs)
{
	return (a + b) * (a + b) / (a * a / (double)(a_runs - 1) + b * b / (double)(b_runs - 1));
}

/* Whether so many runs of each, whose logarithms scatter by these variances, show the distance. */
static bool would_show(double distance, double a, double b, size_t runs, double confidence)
{
	double degrees = degrees_of(a, runs, b, runs);
	double needed = tally_stat_student(confidence, degrees) +
			tally_stat_student(2 * POWER - 1, degrees); /* one side of it */

	return distance >= needed * sqrt((a + b) / (double)runs);
}

static size_t runs_to_show(double distance, double a, double b, double confidence)
{
	size_t low = 1, high = TALLY_STAT_RUNS_MOST;

	if (!would_show(distance, a, b, high, confidence))
		return SIZE_MAX;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (would_show(distance, a, b, middle, confidence))
			high = middle;
		else
			low = middle;
	}
	return high;
}

static struct tally_stat_ratio ratio_of(const struct tally_stat_mean *first,
					const struct tally_stat_mean *second, double confidence)
{
	struct tally_stat_ratio result = {0};
	double a, b, distance, width = 0;
	size_t runs;

	if (first->runs < 2 || second->runs < 2 || !(first->mean > 0) || !(second->mean > 0))
		return result;
	a = first->spread / first->mean * (first->spread / first->mean);
	b = second->spread / second->mean * (second->spread / second->mean);
	distance = log(second->mean / first->mean);
	if (a + b > 0)
		width =
		    tally_stat_student(confidence, degrees_of(a, first->runs, b, second->runs)) *
		    sqrt(a + b);
	result.known = true;
	result.ratio = second->mean / first->mean;
	result.low = exp(distance - width);
	result.high = exp(distance + width);
	result.distinct = fabs(distance) > width;
	if (result.distinct)
		return result;
	a *= (double)first->runs;
	b *= (double)second->runs;
	runs = first->runs < second->runs ? first->runs : second->runs;
	result.more_runs = a + b > 0 ? runs_to_show(fabs(distance), a, b, confidence) : SIZE_MAX;
	if (result.more_runs < SIZE_MAX)
		result.more_runs = result.more_runs > runs ? result.more_runs - runs : 1;
	return result;
}

int tally_stat_ratio(const struct tally_stat_mean *first, const struct tally_stat_mean *second,
		     double confidence, struct tally_stat_ratio *ret)
{
	const struct tally_stat_ratio own = ratio_of(first, second, confidence);

	return tally_result_copy(ret, sizeof(own), &own);
}
