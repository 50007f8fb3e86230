#include "diff/significance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define ALPHA      0.01
#define FEW        25U /* numbers below it are counted out; others are nearly normal */
#define NOISE_MOST 10  /* more says nothing more */
#define SQRT_TWO   1.4142135623730951

/* The probability of at most `most` successes in `count` tries. */
static double at_most(uint64_t most, uint64_t count, double success)
{
	double sum = 0;

	for (uint64_t i = 0; i <= most && i <= count; i++)
		sum += exp(lgamma((double)count + 1) - lgamma((double)i + 1) -
			   lgamma((double)(count - i) + 1) + (double)i * log(success) +
			   (double)(count - i) * log1p(-success));
	return sum < 1 ? sum : 1;
}

/* `few` is the smaller number, whose expected part of both is `part`.  The noise moves that part
 * towards what was seen, by twice its standard deviation, so that it alone is no reason. */
static double few_samples(uint64_t few, uint64_t sum, double part, double noise)
{
	double expected = (double)sum * part, shift = exp(2 * SQRT_TWO * noise), odds, below, above;
	bool less = (double)few < expected;

	odds = part / (1 - part) * (less ? 1 / shift : shift);
	part = odds / (1 + odds);
	if (((double)few < (double)sum * part) != less)
		return 1;
	below = at_most(few, sum, part);
	above = few ? 1 - at_most(few - 1, sum, part) : 1;
	below = 2 * (less ? below : above);
	return below < 1 ? below : 1;
}

/* So many independent samples say as much. */
static uint64_t independent(uint64_t samples, double dispersion)
{
	return (uint64_t)llround((double)samples / dispersion);
}

double tally_significance(uint64_t a, uint64_t b, double of_a, double of_b, double noise,
			  double dispersion)
{
	double variance, ratio;

	if (dispersion > 1) {
		a = independent(a, dispersion);
		b = independent(b, dispersion);
	}
	if (!(of_a > 0) || !(of_b > 0) || a + b == 0)
		return 1;
	if (a < FEW || b < FEW)
		return a < b ? few_samples(a, a + b, of_a / (of_a + of_b), noise)
			     : few_samples(b, a + b, of_b / (of_a + of_b), noise);
	variance = 1 / (double)a + 1 / (double)b + 2 * noise * noise;
	ratio = log((double)b / of_b) - log((double)a / of_a);
	return erfc(fabs(ratio) / sqrt(variance) / SQRT_TWO);
}

double tally_significance_noise(double noise, uint64_t samples, uint64_t all)
{
	double whole = samples ? noise / 100 * (double)all / (double)samples : 0;

	noise = hypot(noise, whole);
	return noise < NOISE_MOST ? noise : NOISE_MOST;
}

struct ranked {
	double p;
	size_t index;
};

static int by_p(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	return a->p < b->p ? -1 : a->p > b->p;
}

int tally_significance_choose(const double *p, size_t count, size_t tables, bool *ret)
{
	struct ranked *ranked = malloc((count + 1) * sizeof(*ranked));
	bool chosen = true;

	if (!ranked)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		ranked[i] = (struct ranked){p[i], i};
	if (count)
		qsort(ranked, count, sizeof(*ranked), by_p);
	for (size_t i = 0; i < count; i++) {
		chosen &= ranked[i].p <= ALPHA / (double)tables / (double)(count - i);
		ret[ranked[i].index] = chosen;
	}
	free(ranked);
	return 0;
}
