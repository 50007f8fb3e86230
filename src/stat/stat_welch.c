/* Whether two means differ: Welch's t-test, and Student's distribution that it needs. */
#include <float.h>
#include <math.h>
#include <tally/stat.h>
#include "base/option_struct.h"

#define STEPS_MOST 300

/* The continued fraction of the incomplete beta function.  Source: DLMF 8.17.22, evaluated by
 * Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), result;

	d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
	result = d;
	for (int m = 1; m <= STEPS_MOST; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
		c = fabs(c) < DBL_MIN ? DBL_MIN : c;
		result *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
		c = fabs(c) < DBL_MIN ? DBL_MIN : c;
		step = d * c;
		result *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return result;
}

/* I_x(a, b), the regularized incomplete beta function.  Source: DLMF 8.17. */
static double beta_share(double a, double b, double x)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* The probability that |t| is larger.  Source: DLMF 8.17 and the density of Student's t. */
static double beyond(double t, double degrees)
{
	return beta_share(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double tally_stat_student(double confidence, double degrees)
{
	double low = 0, high = 1;

	while (beyond(high, degrees) > 1 - confidence && high < 1e12)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		double middle = (low + high) / 2;

		if (beyond(middle, degrees) > 1 - confidence)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

int tally_stat_welch(const struct tally_stat_mean *first, const struct tally_stat_mean *second,
		     double confidence, struct tally_stat_difference *ret)
{
	double a = first->spread * first->spread, b = second->spread * second->spread;
	struct tally_stat_difference result = {.difference = second->mean - first->mean};
	double degrees, width = 0;

	result.low = result.high = result.difference;
	if (first->runs < 2 || second->runs < 2)
		return tally_result_copy(ret, sizeof(result), &result);
	if (a + b > 0) {
		/* Welch and Satterthwaite's degrees of freedom. */
		degrees = (a + b) * (a + b) /
			  (a * a / (double)(first->runs - 1) + b * b / (double)(second->runs - 1));
		width = tally_stat_student(confidence, degrees) * sqrt(a + b);
	}
	result.low -= width;
	result.high += width;
	result.known = true;
	result.distinct = result.low > 0 || result.high < 0;
	return tally_result_copy(ret, sizeof(result), &result);
}
