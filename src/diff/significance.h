/* Whether two numbers of samples differ by more than chance. */
#ifndef TALLY_DIFF_SIGNIFICANCE_H
#define TALLY_DIFF_SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The probability that two numbers, of rates that are equal, differ as much as these or more.
 * `of_a` and `of_b` are what they are rates of: all samples, seconds, or 1.
 *
 * Numbers of samples are Poisson distributed, so that, given their sum, one of them is binomial.
 * Equal runs differ by more than that, as caches, addresses and other processes do: `noise` is the
 * relative standard deviation that is added.  `dispersion` is what the variance of the numbers is
 * larger by than that of independent samples, at least 1. */
double tally_significance(uint64_t a, uint64_t b, double of_a, double of_b, double noise,
			  double dispersion);

/* The noise of a row with so many of all samples of both: that of its size, and a hundredth of it
 * of all samples, since where a sample is counted moves between a function and its neighbours. */
double tally_significance_noise(double noise, uint64_t samples, uint64_t all);

/* Which of several tests are significant, so that the probability of any wrong one, in all of so
 * many tables, is below 1 %: Holm's method.  0 or -ENOMEM. */
int tally_significance_choose(const double *p, size_t count, size_t tables, bool *ret);

#endif
