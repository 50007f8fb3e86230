/* Source and assembly of the hottest functions with their samples. */
#ifndef TALLY_PAGE_PAGE_CODE_H
#define TALLY_PAGE_PAGE_CODE_H

#include <tally/error.h>
#include "page/page_tables.h"

/* When the page's functions are made: reads the samples of a recording once more, by their places,
 * and adds the tables of lines, source and code.  Code that cannot be read is left out; so is all,
 * if filters choose samples that an annotation cannot choose.  Of source files only those are read
 * whose names end as source code's do, so that no binary can put another file of this machine into
 * a page.  0, -ENOMEM, or an error of reading with words. */
int tally_page_code_make(struct page_tables *tables, const struct page_source *source,
			 const struct tally_profile_options *options, struct tally_error *error);

#endif
