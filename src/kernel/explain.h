/* Why the kernel refused an event, without the words that name the event: for a caller who names it
 * or several that have the reason in common. */
#ifndef TALLY_KERNEL_EXPLAIN_H
#define TALLY_KERNEL_EXPLAIN_H

#include <tally/limits.h>
#include <tally/open.h>

/* As tally_open_explain(), less its "cannot open software event 0x0: ". */
void tally_open_reason(int errnum, const struct tally_attr *attr,
		       const struct tally_open_target *target, const struct tally_limits *limits,
		       struct tally_error *error);

#endif
