/* What counters moved by, as samples tell that read them (PERF_SAMPLE_READ, "leader sampling"). */
#ifndef TALLY_SESSION_MOVES_H
#define TALLY_SESSION_MOVES_H

#include <stdint.h>
#include <tally/data.h>
#include "base/map.h"

/* A counter of that event moved by so much; not 0 stops. */
typedef int (*tally_move_fn)(void *context, uint32_t event, uint64_t id, uint64_t by);

/* Called for each counter of the sample that has moved since it was read before: samples come in
 * their order, and `counters` keeps the last value by id.  0, -ENOMEM, or what stopped it.  Source:
 * what perf does with such samples, each of which it takes for one of every counter. */
int tally_moves_each(struct tally_map *counters, const struct tally_data *data,
		     const struct tally_read *read, tally_move_fn each, void *context);

#endif
