/* The recorder's clock: time that only goes forward. */
#ifndef TALLY_STACKS_MONOTONIC_H
#define TALLY_STACKS_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline int64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

#endif
