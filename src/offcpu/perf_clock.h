/* The time that the kernel writes into records, now. */
#ifndef TALLY_OFFCPU_PERF_CLOCK_H
#define TALLY_OFFCPU_PERF_CLOCK_H

#include <stdint.h>
#include <tally/attr.h>

/* ns, of the clock of an event like that one (use_clockid, clockid); needs no rights. Returns 0 or
 * -errno. */
int tally_perf_clock_now(const struct tally_attr *like, uint64_t *ret);

#endif
