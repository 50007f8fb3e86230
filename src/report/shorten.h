/* Long names of functions, shortened to a width so that they stay different and can be recognised.
 *
 * C++ and Rust names are long for their arguments: first the parameters, then template arguments
 * are replaced by "...", the innermost first and only as many as needed.  What is still too long is
 * cut in the middle: the end of a name says more than its start. */
#ifndef TALLY_REPORT_SHORTEN_H
#define TALLY_REPORT_SHORTEN_H

#include <stddef.h>
#include "base/buf.h"

/* Adds the name in at most `columns` columns of a terminal; `text` is escaped already. */
void tally_shorten(struct tally_buf *to, const char *text, size_t length, size_t columns);
/* The same of a name that differs from others of the same short form from byte `at` on: that place
 * stays visible. */
void tally_shorten_around(struct tally_buf *to, const char *text, size_t length, size_t columns,
			  size_t at);

#endif
