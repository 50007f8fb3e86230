/* Rows in a hierarchy: those with the same first key below one line, and so on;
 * tally_report_options.hierarchy. */
#ifndef TALLY_REPORT_REPORT_HIERARCHY_H
#define TALLY_REPORT_REPORT_HIERARCHY_H

#include <stdio.h>
#include "report/report_table.h"

/* Adds the tree that is drawn below a row; 0 or -errno. */
typedef int (*report_tree_fn)(void *context, uint64_t row, struct tally_buf *to);

/* Adds the table's rows, which are all of the event whatever their shares are, with titles unless
 * the options are `quiet`, and writes to the file as text comes together.  `tree`: NULL: none are
 * drawn.  0, -ENOMEM, or -errno of writing. */
int tally_report_hierarchy(const struct report_table *table, report_tree_fn tree, void *context,
			   struct tally_buf *to, FILE *file);

#endif
