/* Text folded at words, for terminals. */
#ifndef TALLY_BASE_FOLD_H
#define TALLY_BASE_FOLD_H

#include "base/buf.h"

/* The words of `text`, which is escaped, from column `at` on; what would pass `width` columns (0:
 * no limit) goes to a further line, which begins at column `left`.  No line end behind them. */
void tally_fold(struct tally_buf *to, const char *text, unsigned width, unsigned at, unsigned left);
/* Each line on its own; further lines begin a column to the right of where it began. */
void tally_fold_lines(struct tally_buf *to, const char *text, unsigned width);

#endif
