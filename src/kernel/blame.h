/* Which fields of an attr a PMU refuses. */
#ifndef TALLY_KERNEL_BLAME_H
#define TALLY_KERNEL_BLAME_H

#include <stdbool.h>
#include <tally/limits.h>
#include <tally/open.h>

/* After a refusal with `result` (-EINVAL or -EOPNOTSUPP) of a PMU's event that leads no group:
 * opens it without fields of its, and says in `error` which ones stand in the way and what to do.
 * False, and nothing is told: it opens in no way, or the reason is one that tally_open_explain()
 * knows. */
bool tally_open_blame(int result, const struct tally_attr *attr,
		      const struct tally_open_target *target, const struct tally_limits *limits,
		      struct tally_error *error);

#endif
