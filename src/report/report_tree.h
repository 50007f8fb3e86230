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

#endif
