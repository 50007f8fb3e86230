/* What a recording has besides sums: when threads ran, and what happened at single moments. */
#ifndef TALLY_PAGE_PAGE_MOMENTS_H
#define TALLY_PAGE_PAGE_MOMENTS_H

#include "page/page_tables.h"

/* Reads the records in order, when threads and samples of the page are made: adds runs of switch
 * records, markers of tracepoints, of processes that start and end, and of losses and throttling,
 * which are also counted by event.  Only threads and times of the page count.  Of too many runs,
 * those with the shortest gaps become one; of too many markers of tracepoints, each n-th of the
 * most frequent ones stays.  0, -ENOMEM, or an error of reading with words. */
int tally_page_moments_make(struct page_tables *tables, const struct page_source *source,
			    struct tally_error *error);

#endif
