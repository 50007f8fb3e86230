/* The recorder's clock: time that only goes forward. */
#ifndef TALLY_STACKS_MONOTONIC_H
#define TALLY_STACKS_MONOTONIC_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline int64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Time that is left of the period of this length that goes on now, ns: 1 s ends at whole seconds.
 * All threads that read rings do it at these moments, so that what a recorder that is killed has
 * written of each ring ends at the same time. */
static inline int64_t monotonic_left(int64_t period)
{
	return period - monotonic_ns() % period;
}

/* Whether two moments are in the same period. */
static inline bool monotonic_same(int64_t a, int64_t b, int64_t period)
{
	return a / period == b / period;
}

#endif
