/* Rows in an order that was asked for: by one column after the other. */
#ifndef TALLY_REPORT_REPORT_ORDER_H
#define TALLY_REPORT_REPORT_ORDER_H

#include <stdint.h>
#include <tally/report.h>

/* The numbers of an event's first `count` rows, sorted; *ret is the caller's to free().  Numbers of
 * samples and periods come largest first, keys by their text or number, equal rows as they stood.
 * 0 or -ENOMEM. */
int tally_report_order_make(const struct tally_profile *profile, size_t event, uint64_t count,
			    const struct tally_report_options *options, uint64_t **ret);

#endif
