/* Records that say how a trace is to be decoded. */
#ifndef TALLY_AUX_AUX_RECORDS_H
#define TALLY_AUX_AUX_RECORDS_H

#include "aux/aux_kind.h"

/* Adds an AUXTRACE_INFO record: `attr` is the event's as it was opened, `filter` its address
 * filters or NULL, conv NULL: the CPU's clock is not perf's time.  0, -ENOMEM, -E2BIG: more CPUs
 * than a record can name. */
int tally_aux_add_info(const struct tally_aux_plan *plan, const struct tally_attr *attr,
		       const char *filter, const struct tally_record_time_conv *conv,
		       struct tally_buf *to);
/* Adds a TIME_CONV record, as perf does for each recording whose clock can be converted. */
int tally_aux_add_time_conv(const struct tally_record_time_conv *conv, struct tally_buf *to);

#endif
