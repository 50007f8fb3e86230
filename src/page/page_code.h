/* Source and assembly of the hottest functions with their samples. */
#ifndef TALLY_PAGE_PAGE_CODE_H
#define TALLY_PAGE_PAGE_CODE_H

#include <tally/error.h>
#include "page/page_tables.h"

/* Before a recording's samples are read: has them summed up by their places, too, unless filters
 * choose samples that an annotation cannot choose.  `options` is borrowed.  0 or -errno with
 * words. */
int tally_page_code_plan(struct page_source *source, const struct tally_profile_options *options,
			 struct tally_error *error);

/* When the page's functions are made: adds the tables of lines, source and code.  Code that cannot
 * be read is left out; so is all, if it was not planned.  Of source files only those are read whose
 * names end as source code's do, so that no binary can put another file of this machine into a
 * page.  0 or -ENOMEM, maybe with words. */
int tally_page_code_make(struct page_tables *tables, const struct page_source *source,
			 struct tally_error *error);

#endif
