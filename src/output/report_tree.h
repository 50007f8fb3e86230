/* A row's call tree as text. */
#ifndef TALLY_OUTPUT_REPORT_TREE_H
#define TALLY_OUTPUT_REPORT_TREE_H

#include <tally/profile.h>
#include <tally/report.h>
#include "base/buf.h"

/* `whole` is the period that is 100 %. */
void tally_report_tree(struct tally_buf *to, const struct tally_tree *tree, uint64_t whole,
		       const struct tally_report_options *options);

#endif
