/* Text folded at words, for terminals. */
#ifndef TALLY_BASE_FOLD_H
#define TALLY_BASE_FOLD_H

#include "base/buf.h"

/* Adds the words of `text`, escaped, from column `at` on.  A word that would not fit in `width`
 * columns (0: no limit) goes to the next line, which begins at column `left`. The last line has no
 * line end. */
void tally_fold(struct tally_buf *to, const char *text, unsigned width, unsigned at, unsigned left);
/* Folds each line by itself; its further lines are indented by one column more than the line. */
void tally_fold_lines(struct tally_buf *to, const char *text, unsigned width);

#endif
