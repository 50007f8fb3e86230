/* What a page of two recordings has from their difference (tally/diff.h): functions that were
 * renamed, and which changes are more than chance. */
#ifndef TALLY_PAGE_PAGE_DIFFERENCE_H
#define TALLY_PAGE_PAGE_DIFFERENCE_H

#include <tally/diff.h>
#include "page/page_tables.h"

/* Before the second recording's functions are made: those that were renamed will be the first
 * one's.  0 or -ENOMEM. */
int tally_page_difference_names(struct page_tables *tables, const struct tally_diff *diff);
/* When all functions are made: the table of changes.  0 or -ENOMEM. */
int tally_page_difference_rows(struct page_tables *tables, const struct tally_diff *diff,
			       const struct page_source *sources);

#endif
