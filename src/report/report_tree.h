/* A row's call tree as text. */
#ifndef TALLY_REPORT_REPORT_TREE_H
#define TALLY_REPORT_REPORT_TREE_H

#include <tally/profile.h>
#include <tally/report.h>
#include "base/buf.h"

/* `whole` is the period that is 100 %.  With `by_symbol`, the row's own function is left out at the
 * start of its tree, as in perf if rows begin with the symbol.  Nothing is written for a tree
 * without branches. */
void tally_report_tree(struct tally_buf *to, const struct tally_tree *tree, uint64_t whole,
		       const struct tally_report_options *options, bool by_symbol);

/* A share of `base`, the period, or the number of samples. */
void tally_report_tree_value(struct tally_buf *to, uint64_t period, uint64_t samples, uint64_t base,
			     const struct tally_report_options *options);
/* report_paths.c: the same tree as paths, the largest first: a line each (TALLY_TREE_FOLDED), or a
 * block each (TALLY_TREE_FLAT).  The tree must have been made without a smallest branch. */
int tally_report_paths(struct tally_buf *to, const struct tally_tree *tree, uint64_t whole,
		       const struct tally_report_options *options);

#endif
