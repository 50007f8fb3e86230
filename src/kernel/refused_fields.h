/* Finds the fields of an attr that a PMU refuses. */
#ifndef TALLY_KERNEL_REFUSED_FIELDS_H
#define TALLY_KERNEL_REFUSED_FIELDS_H

#include <stdbool.h>
#include <tally/limits.h>
#include <tally/open.h>

/* After a refusal with `result` (-EINVAL or -EOPNOTSUPP) of a PMU's event that does not lead a
 * group: tries to open it without some fields, and writes to `error` which of them are refused and
 * what to do. False, without words: it never opens, or the reason is one of tally_open_explain().
 */
bool tally_open_find_refused_fields(int result, const struct tally_attr *attr,
				    const struct tally_open_target *target,
				    const struct tally_limits *limits, struct tally_error *error);

#endif
