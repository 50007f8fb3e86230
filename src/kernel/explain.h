/* Why the kernel refused an event, without the event's name: for callers that add the name, or
 * several. */
#ifndef TALLY_KERNEL_EXPLAIN_H
#define TALLY_KERNEL_EXPLAIN_H

#include <tally/limits.h>
#include <tally/open.h>

/* As tally_open_explain(), without "cannot open software event 0x0: ". */
void tally_open_reason(int errnum, const struct tally_attr *attr,
		       const struct tally_open_target *target, const struct tally_limits *limits,
		       struct tally_error *error);

#endif
